"""Check what this machine has: Java, Python, packages, clock."""

from __future__ import annotations

import datetime
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions, requires
from pathlib import Path

from millrace.diagnosis.findings import Finding, error, ok, warning

OLDEST_JAVA = 17
OLDEST_PYTHON = (3, 11)
META_DISTRIBUTION = "millrace-kafka"
_STRANGER = "millrace"
"""A name on PyPI that is another project's."""

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_JAVA_TIMEOUT_S = 5.0


def check_machine() -> Iterator[Finding]:
    """Check this process and its host."""
    yield _check_java()
    yield _check_python()
    yield from _check_packages(installed_packages())
    yield _check_clock()


def _check_java() -> Finding:
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else shutil.which("java")
    remedy = f"install Java {OLDEST_JAVA} or 21, and let JAVA_HOME name its folder"
    if program is None:
        return error("java", "java", "there is none on PATH, and JAVA_HOME is not set", remedy)
    try:
        ended = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=_JAVA_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        return error("java", program, f"it does not run: {failure}", remedy)
    found = _VERSION.search(ended.stderr + ended.stdout)
    if found is None:
        return error("java", program, "it does not report its version", remedy)
    version = int(found[1])
    if version < OLDEST_JAVA:
        return error("java", program, f"Java {version} is too old for Spark", remedy)
    return ok("java", program, f"Java {version}")


def _check_python() -> Finding:
    version = platform.python_version()
    if sys.version_info[:2] < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        return error("python", sys.executable, f"Python {version} is too old", f"use Python {oldest} or newer")
    return ok("python", sys.executable, f"Python {version}")


def installed_packages() -> dict[str, str]:
    """Return the versions of the packages that matter here, by name."""
    names = ("pyspark", "pyarrow", "confluent-kafka")
    found = {(each.metadata["Name"] or "").lower().replace("_", "-"): each.version for each in distributions()}
    return {name: version for name, version in sorted(found.items()) if name in names or name.startswith(_STRANGER)}


def _check_packages(installed: Mapping[str, str]) -> Iterator[Finding]:
    if _STRANGER in installed and not _is_ours():
        yield error(
            "packages",
            f"{_STRANGER} {installed[_STRANGER]}",
            "on PyPI this is another project, which only has the same name",
            f"pip uninstall {_STRANGER}; pip install {META_DISTRIBUTION}",
        )
    ours = {name: version for name, version in installed.items() if name.startswith(f"{_STRANGER}-")}
    core = ours.get("millrace-core")
    for name, version in ours.items():
        if core is not None and version.split(".")[:2] != core.split(".")[:2]:
            yield warning(
                "packages", f"{name} {version}", f"millrace-core is {core}", "install the same version of both"
            )
    if "pyspark" not in installed:
        yield error("packages", "pyspark", "it is not installed", "pip install 'pyspark>=4.2'")
    listed = ", ".join(f"{name} {version}" for name, version in installed.items())
    yield ok("packages", f"{len(installed)} packages", listed)


def _is_ours() -> bool:
    """Return whether the installed distribution is an early one of this project, which depends on its parts."""
    return any(each.startswith(f"{_STRANGER}-core") for each in requires(_STRANGER) or ())


def _check_clock() -> Finding:
    now = datetime.datetime.now(datetime.UTC)
    installed = datetime.datetime.fromtimestamp(Path(__file__).stat().st_mtime, datetime.UTC)
    shown = f"{now:%Y-%m-%d %H:%M:%S} UTC"
    if now < installed - datetime.timedelta(days=1):
        message = f"this host's clock says {shown}, and millrace was installed at {installed:%Y-%m-%d}"
        return error("clock", shown, message, "set the clock: certificates and tokens are refused by a wrong one")
    return ok("clock", shown, "this host's time")
