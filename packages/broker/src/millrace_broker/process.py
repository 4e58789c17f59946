"""The Java process of a broker, run by a guard that outlives this process just long enough to end it."""

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
from millrace_broker.identity import identity


class GuardedProcess:
    """Starts and ends one Java process at a time, which dies with this Python process.

    Args:
        discard: A folder that is deleted at `close`, or when this process dies.
    """

    def __init__(self, discard: Path | None) -> None:
        self._lock = threading.Lock()
        # As a file, not a module: nothing is imported, and a changed sys.path does not matter.
        # A session of its own: a Ctrl-C in the terminal would end Java before its clients.
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        self.pid: int | None = None
        self._identity: str | None = None
        if discard:
            self._ask(do="discard", folder=str(discard))

    @property
    def guard_pid(self) -> int:
        """The process id of the guard."""
        return self._guard.pid

    def start(self, command: list[str], console: Path) -> None:
        """Start Java; what it prints is appended to a file.

        Raises:
            MachineError: The system could not start it.
        """
        self.pid = int(self._ask(do="start", command=command, console=str(console))["pid"])
        self._identity = identity(self.pid)

    def exit_code(self) -> int | None:
        """The code that Java ended with; none while it runs."""
        code = self._ask(do="poll")["exit"]
        return None if code is None else int(code)

    def stop(self, grace: float) -> None:
        """End Java and wait for its end.

        Args:
            grace: Seconds for a clean end, after which it is killed; 0 kills at once.
        """
        self._ask(do="stop", grace=grace)
        self.pid = None

    def close(self) -> None:
        """End the guard, and with it Java where it still runs; the folder to discard is gone afterwards."""
        with self._lock:
            for pipe in (self._guard.stdin, self._guard.stdout):
                if pipe:
                    pipe.close()
            self._guard.wait()
            self._end_orphan()
        self.pid = None

    def _ask(self, **request: Any) -> dict[str, Any]:
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
            self._end_orphan()
            raise MachineError("the process that guards the Kafka broker has ended; the broker has ended with it")
        return dict(json.loads(answer))

    def _end_orphan(self) -> None:
        # The guard has ended Java, unless someone has killed the guard
        if self.pid and self._identity and identity(self.pid) == self._identity:
            os.kill(self.pid, signal.SIGKILL)
