"""Keeps a checked copy of Apache Kafka in the user's cache folder."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from millrace.errors import OptionsError
from millrace_broker import ivy, storage
from millrace_broker.checksum import sha256
from millrace_broker.folders import cache_folder, locked
from millrace_broker.java import Java
from millrace_broker.progress import Progress

DEFAULT_VERSION = "4.1.0"
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Install:
    """Apache Kafka on this machine.

    Args:
        version: Kafka's version.
        folder: Holds the jars, what a new data folder starts with, and the manifest of their checksums.
    """

    version: str
    folder: Path

    @property
    def class_path(self) -> str:
        """The jars, as Java wants them."""
        return ":".join(str(jar) for jar in sorted(self.folder.glob("*.jar")))


def ensure_installed(version: str, java: Java, progress: Progress) -> Install:
    """Check the cached Kafka by its checksums; fetch it where it is missing or damaged.

    Args:
        version: Kafka's version, 4.0.0 or newer.
        java: Runs what has to be run for fetching.
        progress: Told how far the fetching is; not called when the cache is in order.

    Raises:
        MachineError: Kafka could not be fetched.
        OptionsError: The version is none that can be run.
    """
    if not re.fullmatch(r"[4-9]\.\d+\.\d+", version):
        raise OptionsError("broker", (f"version {version!r} is no release of Kafka 4, such as {DEFAULT_VERSION!r}",))
    install = Install(version, cache_folder() / "kafka" / version)
    if not faults(install.folder):
        return install
    with locked(install.folder.parent / f"{version}.lock"):
        # Another process may have fetched it while this one waited
        found = faults(install.folder)
        if found:
            if install.folder.exists():
                progress(f"the cached Apache Kafka {version} is damaged ({found[0]}), fetching it anew")
            _fetch(install, java, progress)
    return install


def faults(folder: Path) -> list[str]:
    """What is wrong with a cached Kafka, one phrase for each missing or changed file; empty when all is well."""
    try:
        expected = json.loads((folder / MANIFEST).read_text())["sha256"]
    except FileNotFoundError:
        return ["its manifest is missing"]
    except (ValueError, KeyError, TypeError):
        return ["its manifest is unreadable"]
    return [fault for name, digest in expected.items() if (fault := _fault(folder / name, digest))]


def _fault(path: Path, digest: str) -> str | None:
    try:
        return None if sha256(path) == digest else f"{path.name} has changed"
    except OSError:
        return f"{path.name} is missing"


def _fetch(install: Install, java: Java, progress: Progress) -> None:
    progress(f"fetching Apache Kafka {install.version} (43 MB, once) into {install.folder}")
    prefix = f".{install.version}-"
    # Left by a process that was killed while it fetched; the lock says that none is fetching now
    for left in install.folder.parent.glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix=prefix, dir=install.folder.parent))
    try:
        ivy.fetch(install.version, new, java, progress)
        shutil.rmtree(new / ".ivy")
        storage.make_template(java, Install(install.version, new).class_path, new)
        checksums = {path.name: sha256(path) for path in sorted(new.iterdir())}
        (new / MANIFEST).write_text(json.dumps({"kafka": install.version, "sha256": checksums}, indent=1))
        new.chmod(0o755)
        shutil.rmtree(install.folder, ignore_errors=True)
        new.rename(install.folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    progress(f"Apache Kafka {install.version} is fetched")
