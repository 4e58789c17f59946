"""Processes that write tasks exactly once, as Spark's Python workers do."""

from __future__ import annotations

import pickle
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from millrace.configuration import SinkConfig
from millrace.errors import MillraceError
from millrace.sink.write_task import WriteResult, WriteTask

SCHEMA = pa.schema([("value", pa.binary())])

_PROGRAM = Path(__file__).parents[1] / "programs" / "write_tasks.py"


class Stops:
    """Points at which tasks of all workers stop.

    Args:
        folder: The folder whose files stop them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def set(self, point: str) -> None:
        """Stop tasks ``"before"`` or ``"after"`` their commit."""
        (self.folder / point).touch()

    def stopped(self) -> list[int]:
        """Return the process of each task that has stopped."""
        return [int(file.name.split("-")[1]) for file in self.folder.glob("stopped-*")]

    def go_on(self) -> None:
        """Let all tasks go on."""
        for file in self.folder.iterdir():
            file.unlink(missing_ok=True)


class TaskWorker:
    """A worker process.

    Args:
        config: The sink's configuration.
        stops: The points at which its tasks stop.
    """

    def __init__(self, config: SinkConfig, stops: Stops) -> None:
        self._config = config
        self._process = subprocess.Popen(
            [sys.executable, str(_PROGRAM), str(stops.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.pid = self._process.pid

    def start(self, batch: int, *values: str, parts: int = 1) -> None:
        """Give it the only task of a micro-batch, whose rows come in some Arrow batches."""
        completed = 0 if batch else None
        task = WriteTask(0, 0, "me", batch, is_streaming=True, run="run", completed_batch=completed)
        divided = [[value.encode() for value in values[part::parts]] for part in range(parts)]
        rows = [pa.record_batch([pa.array(part)], schema=SCHEMA) for part in divided]
        pickle.dump((self._config, task, rows), self._process.stdin)
        self._process.stdin.flush()

    def has_answered(self) -> bool:
        """Return whether the result of the task is there."""
        return bool(select.select([self._process.stdout], [], [], 0)[0])

    def result(self) -> WriteResult:
        """Wait for the result of the task, or raise its error."""
        answer = pickle.load(self._process.stdout)
        if isinstance(answer, MillraceError):
            raise answer
        return answer

    def write(self, batch: int, *values: str, parts: int = 1) -> WriteResult:
        """Write the only task of a micro-batch."""
        self.start(batch, *values, parts=parts)
        return self.result()

    def is_running(self) -> bool:
        """Return whether it has not been killed."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it by SIGKILL."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def task_workers(stops: Stops) -> Iterator[Callable[[SinkConfig], TaskWorker]]:
    """Start workers, which end with the block."""
    started: list[TaskWorker] = []

    def start(config: SinkConfig) -> TaskWorker:
        started.append(TaskWorker(config, stops))
        return started[-1]

    try:
        yield start
    finally:
        for worker in started:
            worker.kill()
