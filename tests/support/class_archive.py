"""Spark starts in half the time: Java maps the classes that it would load from an archive of them.

Java calls this class data sharing. The archive belongs to one Java, one PySpark and one class path; a driver with
another class path starts without it, as slowly as ever.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

import pyspark
from filelock import FileLock, Timeout

from millrace.api.spark_home import link_spark_home
from millrace_broker.folders import cache_folder, exclusive_lock
from millrace_broker.java import find_java
from support.spark_programs import QUICK

TRAINING_PROGRAM = Path(__file__).parents[1] / "programs" / "load_spark_classes.py"

# Java says on standard output why it uses no archive or leaves classes out of one
_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


@contextmanager
def use_class_archive() -> Iterator[Path]:
    """Let drivers that this process starts use the archive, which is created beside them where it is missing.

    A driver with another ``SPARK_HOME`` than the one that this yields and sets does not use it, nor does one that
    starts before the archive is complete.
    """
    folder = _folder()
    archive = folder / "classes.jsa"
    with exclusive_lock(folder.parent / f"{folder.name}.lock"):
        if not (folder / "home").exists():
            folder.mkdir(parents=True, exist_ok=True)
            link_spark_home(folder / "home")
    with _created(archive), patch.dict(os.environ, _environment(folder, f"-XX:SharedArchiveFile={archive}")):
        yield folder / "home"


@contextmanager
def _created(archive: Path) -> Iterator[None]:
    """Have the archive created where it is missing and no other worker creates it; wait for it at the end."""
    with ExitStack() as stack:
        with suppress(Timeout):
            stack.enter_context(FileLock(archive.with_suffix(".creation.lock"), blocking=False))
            if not archive.exists():
                stack.enter_context(_creation(archive))
        yield


@contextmanager
def _creation(archive: Path) -> Iterator[None]:
    partial = archive.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    environment = {**os.environ, **_environment(archive.parent, f"-XX:ArchiveClassesAtExit={partial}")}
    command = [sys.executable, str(TRAINING_PROGRAM), str(partial), str(archive)]
    with (
        tempfile.TemporaryFile("w+") as output,
        subprocess.Popen(command, env=environment, stdout=output, stderr=output) as creation,
    ):
        yield
        status = creation.wait()
        output.seek(0)
        assert status == 0, f"Spark's classes could not be archived:\n{output.read()[-3000:]}"


def _folder() -> Path:
    java = find_java()
    identity = f"{java.path.resolve()} {java.build} {Path(pyspark.__file__).parent}"
    key = hashlib.sha256(identity.encode()).hexdigest()[:12]
    return cache_folder() / "tests" / f"spark-{pyspark.__version__}-{key}"


def _environment(folder: Path, option: str) -> dict[str, str]:
    return {
        # Class paths are compared as text
        "SPARK_HOME": str(folder / "home"),
        "SPARK_LAUNCHER_OPTS": QUICK,
        "SPARK_SUBMIT_OPTS": f"{QUICK} {_QUIET} {option}",
    }
