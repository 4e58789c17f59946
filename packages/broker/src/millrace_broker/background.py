"""One broker for this user that runs on when the program that started it has ended."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from millrace.errors import MachineError
from millrace_broker.admin import wait_until
from millrace_broker.folders import locked, state_folder
from millrace_broker.identity import identity
from millrace_broker.listener import Listener
from millrace_broker.plan import make_plan
from millrace_broker.preparation import find_program
from millrace_broker.program import Program, Settings
from millrace_broker.readiness import await_ready

_GRACE_SECONDS = 20.0


@dataclass(frozen=True)
class BackgroundBroker:
    """A broker in the background, as it is noted in the state folder.

    Args:
        pid: The process id of its Java.
        identity: Tells that process from a later one with the same id.
        bootstrap_servers: Its address.
        version: Kafka's version.
        started: When, in seconds since 1970.
        data_dir: The folder with its data and logs.
        temporary: Whether `stop` deletes that folder.
    """

    pid: int
    identity: str
    bootstrap_servers: str
    version: str
    started: float
    data_dir: str
    temporary: bool

    @property
    def log_file(self) -> Path:
        """The file that it logs to."""
        return Path(self.data_dir) / "server.log"

    @property
    def runs(self) -> bool:
        """Whether its process is there."""
        return identity(self.pid) == self.identity


def running() -> BackgroundBroker | None:
    """The broker in the background; none when it does not run."""
    noted = _read()
    return noted if noted and noted.runs else None


def start(settings: Settings, port: int = 0, data_dir: Path | None = None) -> tuple[BackgroundBroker, bool]:
    """Start the broker in the background and wait until it serves clients; leave it alone where it runs already.

    Args:
        settings: What it is run with.
        port: 0 for a free one.
        data_dir: Holds data and logs, and is kept; by default a temporary folder that `stop` deletes.

    Returns:
        The broker, and whether this call started it.

    Raises:
        MachineError: As for `KafkaBroker.start`.
    """
    with locked(state_folder() / "broker.lock"):
        noted = _read()
        if noted and noted.runs:
            return noted, False
        if noted:
            _forget(noted)
        program = find_program(settings)
        folder = data_dir.absolute() if data_dir else Path(tempfile.mkdtemp(prefix="millrace-kafka-"))
        try:
            return _launch(program, folder, port, temporary=data_dir is None), True
        except BaseException:
            if data_dir is None:
                shutil.rmtree(folder, ignore_errors=True)
            raise


def stop() -> BackgroundBroker | None:
    """End the broker in the background cleanly; returns the one that ran, none when there was none.

    Raises:
        MachineError: It does not end, not even when it is killed.
    """
    with locked(state_folder() / "broker.lock"):
        noted = _read()
        if noted is None:
            return None
        ran = noted.runs
        if ran:
            _end(noted)
        _forget(noted)
        return noted if ran else None


def _launch(program: Program, folder: Path, port: int, *, temporary: bool) -> BackgroundBroker:
    folder.mkdir(parents=True, exist_ok=True)
    plan = make_plan(folder, [Listener("PLAINTEXT", port=port)], {})
    command = program.prepare(plan)
    with plan.console_file.open("ab") as console:
        java = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, start_new_session=True, cwd=folder
        )
    try:
        address, version = plan.listeners[0].address, program.install.version
        noted = BackgroundBroker(
            java.pid, identity(java.pid) or "", address, version, time.time(), str(folder), temporary
        )
        _write(noted)
        await_ready(plan, java.poll, frozenset([plan.seat.node_id]))
    except BaseException:
        java.kill()
        java.wait()
        _state_file().unlink(missing_ok=True)
        raise
    # It is to run on; without this the interpreter would warn of a process that nobody waited for
    java.returncode = 0
    return noted


def _end(noted: BackgroundBroker) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if noted.runs:
            os.kill(noted.pid, number)
        if wait_until(lambda: not noted.runs, _GRACE_SECONDS):
            return
    raise MachineError(f"the Kafka broker, process {noted.pid}, does not end")


def _forget(noted: BackgroundBroker) -> None:
    if noted.temporary:
        shutil.rmtree(noted.data_dir, ignore_errors=True)
    _state_file().unlink(missing_ok=True)


def _state_file() -> Path:
    return state_folder() / "broker.json"


def _read() -> BackgroundBroker | None:
    try:
        return BackgroundBroker(**json.loads(_state_file().read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        # Written by another version of this package: what it says cannot be trusted, above all not the process id
        return None


def _write(noted: BackgroundBroker) -> None:
    partial = _state_file().with_suffix(".new")
    partial.write_text(json.dumps(dataclasses.asdict(noted), indent=1))
    partial.replace(_state_file())
