"""Finds the Java that runs the broker, and says how to get one where there is none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from millrace.errors import MachineError

OLDEST = 17

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
# Where package managers are, for a PATH that leaves them out
_USUAL_FOLDERS = ("/usr/bin", "/usr/sbin", "/sbin", "/bin", "/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin")


@dataclass(frozen=True)
class Java:
    """A Java that is new enough.

    Args:
        path: The `java` program.
        version: Its major version, such as 17.
        build: All that it says of its version.
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
    said = _ask_version(path, origin)
    version = _major_version(said, path, origin)
    if version < OLDEST:
        raise MachineError(
            f"Java {OLDEST} or newer is needed to run Kafka, but {path} ({origin}) is Java {version}. {install_hint()}"
        )
    return Java(path, version, said)


def install_hint() -> str:
    """One sentence saying how to get Java with the package manager of this system."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *_USUAL_FOLDERS])
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
                f"JAVA_HOME is {home}, but there is no program bin/java in it. "
                f"Unset JAVA_HOME or point it at Java {OLDEST} or newer. {install_hint()}"
            )
        return path, "from JAVA_HOME"
    found = shutil.which("java")
    if not found:
        raise MachineError(
            f"Java {OLDEST} or newer is needed to run Kafka, but JAVA_HOME is not set "
            f"and there is no java on PATH. {install_hint()}"
        )
    return Path(found), "from PATH"


def _ask_version(path: Path, origin: str) -> str:
    try:
        answer = subprocess.run([str(path), "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MachineError(f"{path} ({origin}) does not run: {error}. {install_hint()}") from error
    return answer.stderr + answer.stdout


def _major_version(said: str, path: Path, origin: str) -> int:
    # Java 8 calls itself 1.8
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if not version:
        raise MachineError(
            f"{path} ({origin}) does not tell its version; it said: {said.strip()[:200] or 'nothing'}. {install_hint()}"
        )
    return int(version[1])
