"""Check what ``build_packages.py`` has built in ``dist/``: its bytes, its metadata and its contents.

Each check prints what it finds; the program ends with 1 when one of them has found something.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from build_packages import DIST, ROOT, Package, build, read_packages

UNTESTED_BY_PYROMA = "AuthorEmail,Url"
"""The project has no address of its own yet, neither for letters nor for its pages."""

EMPTY_WHEELS = ("millrace-kafka",)
"""Wheels without files: the distribution that depends on all others."""

PLAIN_CONTENTS = "W009"
"""Two packages at the top: Spark finds a data source by the name of a package, ``pyspark_millrace``."""


def main() -> None:
    """Run all checks on ``dist/``."""
    packages = read_packages(ROOT)
    problems = [problem for package in packages for problem in _problems(package)]
    problems += _failures("twine", "check", "--strict", *_files(DIST, "*"))
    if problems:
        sys.exit("\n".join(problems))


def different_files(built: Path, again: Path) -> list[str]:
    """Name the files of two builds that differ, or that only one of them has."""
    names = {file.name for folder in (built, again) for file in folder.iterdir()}
    return sorted(name for name in names if _bytes(built / name) != _bytes(again / name))


def _problems(package: Package) -> Iterator[str]:
    folder = DIST / package.name
    with tempfile.TemporaryDirectory() as again:
        build(package, Path(again))
        for name in different_files(folder, Path(again)):
            yield f"dist/{package.name}/{name}: another build of the same sources has other bytes"
    (sdist,) = folder.glob("*.tar.gz")
    yield from _failures("pyroma", "--min", "10", "--skip-tests", UNTESTED_BY_PYROMA, str(sdist))
    ignored = f"{PLAIN_CONTENTS},W007,W008" if package.name in EMPTY_WHEELS else PLAIN_CONTENTS
    yield from _failures("check_wheel_contents", "--ignore", ignored, *map(str, folder.glob("*.whl")))


def _failures(module: str, *arguments: str) -> Iterator[str]:
    """Run a program of this environment, and return what it prints when it fails."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        yield done.stdout + done.stderr


def _files(folder: Path, pattern: str) -> list[str]:
    return sorted(str(file) for file in folder.glob(f"{pattern}/*") if file.suffix in (".whl", ".gz"))


def _bytes(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


if __name__ == "__main__":
    main()
