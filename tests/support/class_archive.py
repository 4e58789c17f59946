"""Spark starts in half the time: Java maps the classes that it would load from an archive of them.

Java calls this class data sharing. The archive belongs to one Java, one PySpark and one class path; a driver with
another class path starts without it, as slowly as ever.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pyspark

from millrace.api.spark_home import link_spark_home
from millrace_broker.folders import cache_folder, exclusive_lock
from millrace_broker.java import find_java
from support.spark_programs import QUICK

TRAINING_PROGRAM = Path(__file__).parents[1] / "programs" / "load_spark_classes.py"

# Java says on standard output why it uses no archive or leaves classes out of one
_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


@contextmanager
def use_class_archive() -> Iterator[Path]:
    """Let drivers that this process starts use the archive, which is created where it is missing.

    A driver with another ``SPARK_HOME`` than the one that this yields and sets does not use it.
    """
    folder = _folder()
    archive = folder / "classes.jsa"
    with exclusive_lock(folder.parent / f"{folder.name}.lock"):
        if not archive.exists():
            _create(archive)
    with patch.dict(os.environ, _environment(folder, f"-XX:SharedArchiveFile={archive}")):
        yield folder / "home"


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


def _create(archive: Path) -> None:
    folder = archive.parent
    home = folder / "home"
    if not home.exists():
        folder.mkdir(parents=True, exist_ok=True)
        link_spark_home(home)
    partial = archive.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    environment = {**os.environ, **_environment(folder, f"-XX:ArchiveClassesAtExit={partial}")}
    command = [sys.executable, str(TRAINING_PROGRAM)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"Spark's classes could not be archived:\n{done.stdout[-3000:]}{done.stderr}"
    partial.replace(archive)
