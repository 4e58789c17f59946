"""Jars of Maven repositories that tests need, fetched once by the Ivy that PySpark includes."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyspark

from millrace_broker.folders import cache_folder, exclusive_lock
from millrace_broker.java import find_java

_MODULE = (
    '<ivy-module version="2.0"><info organisation="millrace" module="tests"/><configurations>'
    '<conf name="default"/></configurations><dependencies>{}</dependencies></ivy-module>'
)


class Artifact(NamedTuple):
    """A jar, with those that it needs at run time unless it is taken alone."""

    group: str
    name: str
    version: str
    is_alone: bool = False

    def __str__(self) -> str:
        needed = 'conf="default->master" transitive="false"' if self.is_alone else 'conf="default->runtime,master"'
        return f'<dependency org="{self.group}" name="{self.name}" rev="{self.version}" {needed}/>'


def fetch_jars(name: str, artifacts: Sequence[Artifact]) -> list[Path]:
    """Return jars, out of the cache where they are there.

    Args:
        name: The folder in the cache; another for other artifacts.
        artifacts: The artifacts.
    """
    folder = cache_folder() / "tests" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(folder.parent / f"{name}.lock"):
        if not folder.is_dir():
            _fetch(folder, artifacts)
    return sorted(folder.glob("*.jar"))


def jar_of(coordinate: str) -> list[Path]:
    """Return the one jar of a Maven coordinate, such as ``org.postgresql:postgresql:42.7.7``."""
    group, name, version = coordinate.split(":")
    return fetch_jars(f"{name}-{version}", [Artifact(group, name, version, is_alone=True)])


def _fetch(folder: Path, artifacts: Sequence[Artifact]) -> None:
    ivy = next(Path(pyspark.__file__).parent.joinpath("jars").glob("ivy-*.jar"))
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        module = Path(work, "ivy.xml")
        module.write_text(_MODULE.format("".join(map(str, artifacts))))
        command = [str(find_java().path), "-jar", str(ivy), "-ivy", str(module), "-confs", "default"]
        settings = os.environ.get("MILLRACE_IVY_SETTINGS")
        command += [*(["-settings", settings] if settings else []), "-cache", f"{work}/cache"]
        command += ["-types", "jar", "bundle", "-retrieve", f"{work}/new/[artifact]-[revision].[ext]"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{artifacts[0].name} could not be fetched:\n{done.stdout[-3000:]}{done.stderr}"
        Path(work, "new").rename(folder)
