"""Ctrl-C and SIGTERM as a wish to stop, which never breaks into the middle of something."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Remembers that someone asked this process to stop, within a ``with`` block in the main thread."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._raising = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._take) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def asked(self) -> bool:
        """Whether someone asked to stop."""
        return self._asked.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait, at most until someone asks to stop; whether someone did."""
        return self._asked.wait(seconds)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """A block that a wish to stop ends by a KeyboardInterrupt, once; for what can take long and tidies up."""
        self._raising = True
        try:
            if self.asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._raising = False

    def _take(self, number: int, frame: FrameType | None) -> None:
        self._asked.set()
        if self._raising:
            self._raising = False
            raise KeyboardInterrupt
