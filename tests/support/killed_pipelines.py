"""Pipelines in processes of their own, which are killed at random moments and started again."""

from __future__ import annotations

import functools
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import psutil

from support.checkpoints import count_micro_batches
from support.families import Family
from support.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "copy_database.py"
_LONGEST_MICRO_BATCH_S = 300


class PipelineFile(NamedTuple):
    """A pipeline.

    Attributes:
        name: Its name, and that of the folder of its checkpoint.
        text: Its file.
        jars: The jars that its session needs.
    """

    name: str
    text: str
    jars: Sequence[Path] = ()


class RunningPipelines:
    """Pipelines that run until the ``with`` block ends.

    Args:
        files: The pipelines.
        folder: Gets checkpoints and consoles.
        seed: The seed of the moments of kills.
    """

    def __init__(self, files: Sequence[PipelineFile], folder: Path, seed: int) -> None:
        self._files = {file.name: file for file in files}
        self._folder = folder
        self._chance = random.Random(seed)
        self._began = time.monotonic()
        self._running: dict[str, Family] = {}
        self._at_start: dict[str, int] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with self._stack:
            for name in self._files:
                self._start(name)
            self._stack = self._stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def kill(self, kills: int, between: Callable[[int], None]) -> None:
        """Kill them in turns, and at last all at once; then let them read what there is.

        Args:
            kills: The number of kills.
            between: Called again and again until a moment has come, with the number of the kill.

        Raises:
            AssertionError: One ended by itself.
        """
        names = list(self._files)
        for number in range(1, kills):
            if number % len(names) == 1:
                self._chance.shuffle(names)
            victim = names[number % len(names)]
            self._await_moment(victim, functools.partial(between, number))
            how = self._kill(victim)
            print(
                f"{time.monotonic() - self._began:.0f} s: kill {number}, {victim}: {how}, at micro-batches "
                f"{ {name: self._batches(name) for name in names} }",
                flush=True,
            )
            self._start(victim)
        for name in names:
            self._await_moment(name, functools.partial(between, kills))
        for name in names:
            self._running[name].kill()

    def finish(self) -> None:
        """Let them read the rest, after they were killed."""
        for name in self._files:
            self._start(name, once=True)
        for running in self._running.values():
            running.result(900)

    def _start(self, name: str, *, once: bool = False) -> None:
        file = self._files[name]
        given = {
            "file": file.text,
            "checkpoint": str(self._folder / name),
            "jars": list(map(str, file.jars)),
            "once": once,
        }
        self._at_start[name] = self._batches(name)
        command = [sys.executable, str(PROGRAM), json.dumps(given)]
        self._running[name] = self._stack.enter_context(Family(command, self._console(name)))

    def _console(self, name: str) -> Path:
        return self._folder / f"{name}-console"

    def _batches(self, name: str) -> int:
        return count_micro_batches(self._folder / name)

    def _await_moment(self, name: str, between: Callable[[], None]) -> None:
        """Wait until a pipeline has completed a micro-batch since its start, most times, and then for any time."""

        def has_gone_on() -> bool:
            self._work(between)
            return self._batches(name) != self._at_start[name]

        moment = self._chance.uniform(0, 20)
        if self._chance.random() < 0.8:
            wait_until(has_gone_on, f"a micro-batch of {name}", _LONGEST_MICRO_BATCH_S)
            moment = self._chance.uniform(0, 4)
        until = time.monotonic() + moment
        while time.monotonic() < until:
            self._work(between)

    def _work(self, between: Callable[[], None]) -> None:
        for name, running in self._running.items():
            assert running.is_running(), f"{name} ended: {self._console(name).read_text()[-6000:]}"
        between()

    def _kill(self, name: str) -> str:
        """Kill all processes of a pipeline at once, or any one of them a little earlier than the others."""
        running, what = self._running[name], "all processes"
        if self._chance.random() < 0.5:
            first = self._chance.choice(running.processes())
            with suppress(psutil.NoSuchProcess):
                what = f"{first.name()} first"
                first.kill()
            time.sleep(self._chance.uniform(0, 0.5))
        running.kill()
        return what
