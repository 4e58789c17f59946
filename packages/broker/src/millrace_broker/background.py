"""One broker per user that keeps running after the program that started it has exited."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from millrace.errors import MachineError
from millrace_broker.admin import await_ready, wait_until
from millrace_broker.folders import exclusive_lock, state_folder
from millrace_broker.listeners import Listener
from millrace_broker.node import configure_node
from millrace_broker.process import process_identity
from millrace_broker.runtime import KafkaRuntime, RuntimeSettings, prepare_runtime

_SHUTDOWN_SECONDS = 20.0


@dataclass(frozen=True)
class BackgroundBroker:
    """A broker in the background, as it is recorded in the state folder.

    Args:
        pid: The process id of its Java.
        identity: Distinguishes that process from a later one with the same id.
        bootstrap_servers: Its address.
        version: Kafka's version.
        started: Its start time, in seconds since 1970.
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
        """The broker's log."""
        return Path(self.data_dir) / "server.log"

    @property
    def is_running(self) -> bool:
        """True while its process runs."""
        return process_identity(self.pid) == self.identity


def find_running() -> BackgroundBroker | None:
    """Return the broker in the background; None when it does not run."""
    recorded = _read_record()
    return recorded if recorded and recorded.is_running else None


def start(settings: RuntimeSettings, port: int = 0, data_dir: Path | None = None) -> tuple[BackgroundBroker, bool]:
    """Start the broker in the background and wait until it serves clients; does nothing when it runs already.

    Args:
        settings: The settings to run it with.
        port: Its port; 0 for any free one.
        data_dir: Holds data and logs, and is kept; by default a temporary folder that `stop` deletes.

    Returns:
        The broker, and whether this call started it.

    Raises:
        MachineError: As `KafkaBroker.start` does.
    """
    with _locked_record():
        recorded = _read_record()
        if recorded and recorded.is_running:
            return recorded, False
        if recorded:
            _discard(recorded)
        runtime = prepare_runtime(settings)
        folder = data_dir.absolute() if data_dir else Path(tempfile.mkdtemp(prefix="millrace-kafka-"))
        try:
            return _launch(runtime, folder, port, temporary=data_dir is None), True
        except BaseException:
            if data_dir is None:
                shutil.rmtree(folder, ignore_errors=True)
            raise


def stop() -> BackgroundBroker | None:
    """Stop the broker in the background cleanly; returns the stopped broker, None when none was running.

    Raises:
        MachineError: Its process does not exit, not even when it is killed.
    """
    with _locked_record():
        recorded = _read_record()
        if recorded is None:
            return None
        was_running = recorded.is_running
        if was_running:
            _shut_down(recorded)
        _discard(recorded)
        return recorded if was_running else None


def _launch(runtime: KafkaRuntime, folder: Path, port: int, *, temporary: bool) -> BackgroundBroker:
    folder.mkdir(parents=True, exist_ok=True)
    config = configure_node(folder, [Listener("PLAINTEXT", port=port)], {})
    command = runtime.prepare(config)
    with config.console_file.open("ab") as console:
        java = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, start_new_session=True, cwd=folder
        )
    try:
        broker = BackgroundBroker(
            pid=java.pid,
            identity=process_identity(java.pid) or "",
            bootstrap_servers=config.listeners[0].address,
            version=runtime.installation.version,
            started=time.time(),
            data_dir=str(folder),
            temporary=temporary,
        )
        _write_record(broker)
        await_ready(config, java.poll, frozenset([config.member.node_id]), config.ports(broker.version))
    except BaseException:
        java.kill()
        java.wait()
        _record_file().unlink(missing_ok=True)
        raise
    # It is meant to keep running; without this the interpreter would warn of a process that nobody waited for
    java.returncode = 0
    return broker


def _shut_down(broker: BackgroundBroker) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if broker.is_running:
            os.kill(broker.pid, number)
        if wait_until(lambda: not broker.is_running, _SHUTDOWN_SECONDS):
            return
    raise MachineError(f"the Kafka broker, process {broker.pid}, does not exit; end that process yourself")


def _discard(broker: BackgroundBroker) -> None:
    if broker.temporary:
        shutil.rmtree(broker.data_dir, ignore_errors=True)
    _record_file().unlink(missing_ok=True)


def _locked_record() -> AbstractContextManager[None]:
    return exclusive_lock(state_folder() / "broker.lock")


def _record_file() -> Path:
    return state_folder() / "broker.json"


def _read_record() -> BackgroundBroker | None:
    try:
        return BackgroundBroker(**json.loads(_record_file().read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        # Written by another version of this package: its contents, above all the process id, cannot be trusted
        return None


def _write_record(broker: BackgroundBroker) -> None:
    partial = _record_file().with_suffix(".new")
    partial.write_text(json.dumps(dataclasses.asdict(broker), indent=1))
    partial.replace(_record_file())
