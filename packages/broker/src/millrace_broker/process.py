"""A broker's Java process, run by a guard that outlives this process just long enough to end it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from millrace.errors import MachineError
from millrace_broker import guard


class GuardedProcess:
    """A Java process that dies with this Python process; one at a time.

    Args:
        temporary_folder: A folder to delete at `close`, or when this process dies.
    """

    def __init__(self, temporary_folder: Path | None) -> None:
        self._lock = threading.Lock()
        # Run as a file, not as a module: nothing is imported, and a changed sys.path does not matter.
        # In its own session: Ctrl-C in the terminal would end Java before its clients.
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        self.pid: int | None = None
        self._identity: str | None = None
        if temporary_folder:
            self._request(do="discard", folder=str(temporary_folder))

    @property
    def guard_pid(self) -> int:
        """The process id of the guard."""
        return self._guard.pid

    def start(self, command: list[str], console: Path) -> None:
        """Start Java.

        Args:
            command: The program and its arguments.
            console: The file that its output is appended to.

        Raises:
            MachineError: The system could not start it.
        """
        self.pid = int(self._request(do="start", command=command, console=str(console))["pid"])
        self._identity = process_identity(self.pid)

    def exit_code(self) -> int | None:
        """Return Java's exit code; None while it runs."""
        code = self._request(do="poll")["exit"]
        return None if code is None else int(code)

    def stop(self, grace: float) -> None:
        """End Java and wait until it has exited.

        Args:
            grace: Seconds for a clean shutdown, after which it is killed; 0 kills at once.
        """
        self._request(do="stop", grace=grace)
        self.pid = None

    def close(self) -> None:
        """End the guard, and with it Java if it still runs, and delete the temporary folder."""
        with self._lock:
            for pipe in (self._guard.stdin, self._guard.stdout):
                if pipe:
                    pipe.close()
            self._guard.wait()
            self._kill_orphan()
        self.pid = None

    def _request(self, **request: Any) -> dict[str, Any]:
        with self._lock:
            answer = self._exchange(json.dumps(request).encode() + b"\n")
        if "error" in answer:
            raise MachineError(f"Java could not be started: {answer['error']}")
        return answer

    def _exchange(self, line: bytes) -> dict[str, Any]:
        requests, answers = self._guard.stdin, self._guard.stdout
        if requests is None or answers is None:
            raise AssertionError("the guard is started with pipes")
        try:
            requests.write(line)
            requests.flush()
            answer = answers.readline()
        except OSError:
            answer = b""
        if not answer:
            self._kill_orphan()
            raise MachineError("the guard process of the Kafka broker has exited, and the broker with it")
        return dict(json.loads(answer))

    def _kill_orphan(self) -> None:
        # The guard ends Java, unless it was killed itself
        if self.pid and self._identity and process_identity(self.pid) == self._identity:
            os.kill(self.pid, signal.SIGKILL)


def process_identity(pid: int) -> str | None:
    """Identify a running process beyond its id, which systems reuse: by its start time.

    Args:
        pid: The process id.

    Returns:
        A text that no other process of this id has; None when it does not run.
    """
    return _identity_from_proc(pid) if Path("/proc/self/stat").exists() else _identity_from_ps(pid)


def _identity_from_proc(pid: int) -> str | None:
    try:
        # The program's name, in parentheses, may contain spaces
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    state, started = fields[0], fields[19]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return None if state in "ZX" else f"{boot} {started}"


def _identity_from_ps(pid: int) -> str | None:
    command = ["ps", "-o", "state=,lstart=", "-p", str(pid)]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    state, _, started = output.strip().partition(" ")
    return None if not started or state.startswith("Z") else " ".join(started.split())
