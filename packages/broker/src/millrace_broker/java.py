"""Find a Java that can run Kafka, or say how to install one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from millrace.errors import MachineError

MIN_VERSION = 17

_TIMEOUT_S = 120
"""Timeout of ``java -version``, in seconds. It is long because a machine that starts many programs at once is slow."""

_INSTALL_COMMANDS = {
    "apt-get": "sudo apt-get install openjdk-17-jre-headless",
    "dnf": "sudo dnf install java-17-openjdk-headless",
    "yum": "sudo yum install java-17-openjdk-headless",
    "apk": "sudo apk add openjdk17-jre-headless",
    "zypper": "sudo zypper install java-17-openjdk-headless",
    "pacman": "sudo pacman -S jre17-openjdk-headless",
    "brew": "brew install openjdk@17",
    "port": "sudo port install openjdk17",
}
# Where package managers are installed, for a PATH that leaves them out
_PACKAGE_MANAGER_FOLDERS = (
    "/usr/bin",
    "/usr/sbin",
    "/sbin",
    "/bin",
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/opt/local/bin",
)


@dataclass(frozen=True)
class Java:
    """An installed Java that is new enough.

    Args:
        path: The `java` program.
        version: Its major version, such as 17.
        build: The complete output of ``java -version``.
    """

    path: Path
    version: int
    build: str


def find_java() -> Java:
    """Find Java in ``JAVA_HOME``, then on ``PATH``.

    Raises:
        MachineError: There is none, it does not run, or it is older than Java 17.
    """
    if sys.platform == "win32":
        raise MachineError("the embedded Kafka broker runs on Linux and macOS; on Windows use it inside WSL")
    path, origin = _locate()
    output = _run_version(path, origin)
    version = _major_version(output, path, origin)
    if version < MIN_VERSION:
        raise MachineError(
            f"Kafka needs Java {MIN_VERSION} or newer, but {path} ({origin}) is Java {version}. {install_hint()}"
        )
    return Java(path, version, output)


def install_hint(search_folders: Sequence[str] = _PACKAGE_MANAGER_FOLDERS) -> str:
    """Return one sentence saying how to install Java with this system's package manager.

    Args:
        search_folders: Folders to look for a package manager in, after those of ``PATH``.
    """
    path = os.pathsep.join([os.environ.get("PATH", ""), *search_folders])
    for manager, command in _INSTALL_COMMANDS.items():
        if shutil.which(manager, path=path):
            return f"Install it with: {command}"
    return "Install one from https://adoptium.net and set JAVA_HOME to its folder"


def _locate() -> tuple[Path, str]:
    home = os.environ.get("JAVA_HOME")
    if home:
        path = Path(home) / "bin" / "java"
        if not os.access(path, os.X_OK):
            raise MachineError(
                f"JAVA_HOME is {home}, but that folder has no program bin/java. "
                f"Unset JAVA_HOME or point it at Java {MIN_VERSION} or newer. {install_hint()}"
            )
        return path, "from JAVA_HOME"
    program = shutil.which("java")
    if not program:
        raise MachineError(
            f"Kafka needs Java {MIN_VERSION} or newer, but JAVA_HOME is not set and there is no java on PATH. "
            f"{install_hint()}"
        )
    return Path(program), "from PATH"


def _run_version(path: Path, origin: str) -> str:
    try:
        command = [str(path), "-version"]
        completed = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MachineError(f"{path} ({origin}) does not run: {error}. {install_hint()}") from error
    return completed.stderr + completed.stdout


def _major_version(output: str, path: Path, origin: str) -> int:
    # Java 8 calls itself 1.8
    version = re.search(r'version "(?:1\.)?(\d+)', output)
    if not version:
        raise MachineError(
            f"{path} ({origin}) reports no Java version; its output: {output.strip()[:200] or '(empty)'}. "
            f"{install_hint()}"
        )
    return int(version[1])
