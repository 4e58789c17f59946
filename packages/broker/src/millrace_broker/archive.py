"""Keeps an archive of Kafka's loaded classes, which halves the time that Java needs to start it.

The archive belongs to one Java and to the very jars that it was made from. Java itself checks that, and starts without
the archive where it does not fit.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from millrace.errors import MachineError
from millrace_broker.checksum import sha256
from millrace_broker.folders import locked
from millrace_broker.install import Install
from millrace_broker.java import Java
from millrace_broker.listener import Listener
from millrace_broker.plan import make_plan
from millrace_broker.process import GuardedProcess
from millrace_broker.program import Program, Settings
from millrace_broker.readiness import await_ready

# Writing the archive is part of the end of the Java that makes it
_GRACE_SECONDS = 60.0


def ensure_archive(java: Java, install: Install, settings: Settings) -> Path | None:
    """Find the archive for this Java, or make it by running a broker once; none where that does not work.

    Args:
        java: The Java to run.
        install: The Kafka to run.
        settings: Its `progress` is told when an archive is made.
    """
    archive = install.folder / f"classes-{_name_of(java)}.jsa"
    if _is_whole(archive):
        return archive
    if not os.access(install.folder, os.W_OK):
        return None
    with locked(install.folder.parent / f"{install.version}.lock"):
        if not _is_whole(archive):
            settings.progress(f"preparing Apache Kafka {install.version} for quick starts (once)")
            try:
                _make(archive, java, install, settings)
            except MachineError as error:
                # Nothing is lost but time, and a broker that cannot run at all will say so itself
                settings.progress(f"Apache Kafka {install.version} will start slowly: {error}")
                return None
    return archive


def _make(archive: Path, java: Java, install: Install, settings: Settings) -> None:
    with tempfile.TemporaryDirectory(prefix="millrace-classes-") as work:
        plan = make_plan(Path(work), [Listener("PLAINTEXT")], {})
        partial = archive.with_suffix(f".{os.getpid()}")
        options = (f"-XX:ArchiveClassesAtExit={partial}",)
        command = Program(java, install, Settings(settings.progress, java_options=options)).prepare(plan)
        process = GuardedProcess(plan.folder)
        try:
            process.start(command, plan.console_file)
            await_ready(plan, process.exit_code, frozenset([plan.seat.node_id]))
            process.stop(_GRACE_SECONDS)
            if not partial.exists():
                raise MachineError(f"Java {java.version} wrote no archive of classes")
            _checksum_of(archive).write_text(sha256(partial))
            partial.replace(archive)
        finally:
            process.close()
            partial.unlink(missing_ok=True)


def _is_whole(archive: Path) -> bool:
    # A damaged archive could crash Java, which looks at no more than its head
    try:
        return sha256(archive) == _checksum_of(archive).read_text()
    except OSError:
        return False


def _checksum_of(archive: Path) -> Path:
    return archive.with_suffix(".sha256")


def _name_of(java: Java) -> str:
    return hashlib.sha256(f"{java.path.resolve()} {java.build}".encode()).hexdigest()[:12]
