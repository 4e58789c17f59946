"""Ctrl-C and SIGTERM as requests to stop, which interrupt nothing that is not prepared for it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """A record of requests to stop this process, within a ``with`` block in the main thread."""

    def __init__(self) -> None:
        self._requested = threading.Event()
        self._raising = False
        self._previous_handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._previous_handlers = {number: signal.signal(number, self._handle) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)

    @property
    def requested(self) -> bool:
        """True once a stop was requested."""
        return self._requested.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until a stop is requested, at most for some seconds; returns whether it was requested."""
        return self._requested.wait(seconds)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Let a request raise KeyboardInterrupt in a block, once; for slow calls that clean up after themselves.

        Raises:
            KeyboardInterrupt: A stop was requested, before or within the block.
        """
        self._raising = True
        try:
            if self.requested:
                raise KeyboardInterrupt
            yield
        finally:
            self._raising = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._requested.set()
        if self._raising:
            self._raising = False
            raise KeyboardInterrupt
