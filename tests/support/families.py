"""Programs that run beside the tests, each with all the processes that it starts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from millrace_broker.process import GuardedProcess
from support.waiting import PATIENCE_S, wait_until


class Family:
    """A program and all the processes that it starts; they end with the ``with`` block, or with this process.

    Args:
        command: The program and its arguments.
        console: The file that gets what it prints.
        env: Environment variables that it gets beside those of this process.
    """

    def __init__(self, command: Sequence[str], console: Path, env: Mapping[str, str] | None = None) -> None:
        self.console = console
        self._guarded = GuardedProcess(None)
        assignments = [f"{name}={value}" for name, value in (env or {}).items()]
        self._guarded.start(["env", *assignments, *command], console)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self._guarded.close()

    @property
    def pid(self) -> int | None:
        """The process id of the program; none when it was killed."""
        return self._guarded.pid

    def is_running(self) -> bool:
        """Return whether the program still runs."""
        return self._guarded.exit_code() is None

    def processes(self) -> list[psutil.Process]:
        """Return the processes of the family that run, whoever their parent is by now."""
        return [process for process in psutil.process_iter() if self._is_member(process.pid)]

    def names(self) -> set[str]:
        """The names of the programs that run in the family."""
        names = set()
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                names.add(process.name())
        return names

    def kill(self) -> None:
        """End all of the family at once, by SIGKILL."""

        def is_gone() -> bool:
            # Again and again: a process may have started another one in between
            members = self.processes()
            for process in members:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            self._guarded.exit_code()
            return not members

        wait_until(is_gone, "the processes to end")

    def result(self, timeout_s: float = PATIENCE_S) -> str:
        """Wait for the program's end, and return what it printed.

        Raises:
            AssertionError: It failed, or goes on after the timeout; what it printed is in the message.
        """
        try:
            wait_until(lambda: not self.is_running(), "the program to end", timeout_s)
        finally:
            printed = self.console.read_text()
        assert self._guarded.exit_code() == 0, printed
        return printed

    def _is_member(self, pid: int) -> bool:
        # The guard leads a session of its own, which its children cannot leave by accident
        guard = self._guarded.guard_pid
        # One that ends while it is looked at is none any more
        with suppress(ProcessLookupError, psutil.NoSuchProcess):
            return pid != guard and os.getsid(pid) == guard and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        return False
