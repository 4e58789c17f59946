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
from pathlib import Path

from millrace.diagnosis.findings import Finding, error, ok
from millrace.diagnosis.packages import check_packages
from millrace.diagnosis.spark_python import check_spark_python

OLDEST_JAVA = 17
OLDEST_PYTHON = (3, 11)
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_JAVA_TIMEOUT_S = 5.0


def check_machine(environment: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """Check this process and its host.

    Args:
        environment: The environment variables of the programs that start Spark.
    """
    yield _check_java()
    yield _check_python()
    yield check_spark_python(environment)
    yield from check_packages()
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
    match = _VERSION.search(ended.stderr + ended.stdout)
    if match is None:
        return error("java", program, "it does not report its version", remedy)
    version = int(match[1])
    if version < OLDEST_JAVA:
        return error("java", program, f"Java {version} is too old for Spark", remedy)
    return ok("java", program, f"Java {version}")


def _check_python() -> Finding:
    version = platform.python_version()
    if sys.version_info[:2] < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        return error("python", sys.executable, f"Python {version} is too old", f"use Python {oldest} or newer")
    return ok("python", sys.executable, f"Python {version}")


def _check_clock() -> Finding:
    now = datetime.datetime.now(datetime.UTC)
    installed = datetime.datetime.fromtimestamp(Path(__file__).stat().st_mtime, datetime.UTC)
    shown = f"{now:%Y-%m-%d %H:%M:%S} UTC"
    if now < installed - datetime.timedelta(days=1):
        message = f"this host's clock says {shown}, and millrace was installed at {installed:%Y-%m-%d}"
        return error("clock", shown, message, "set the clock: certificates and tokens are refused by a wrong one")
    return ok("clock", shown, "this host's time")
