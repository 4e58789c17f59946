"""Live tails of topics: each follows one topic for one open page."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from millrace.errors import OptionsError
from millrace_ui.topics.messages import TopicReader

MAX_TAILS = 8
"""The number of tails that may be open at once: each has a consumer."""


class Tails:
    """The tails that are open."""

    def __init__(self) -> None:
        self._places = threading.BoundedSemaphore(MAX_TAILS)

    def open(self, make_reader: Callable[[], TopicReader]) -> Tail:
        """Open a tail.

        Raises:
            OptionsError: Too many are open.
            MillraceError: The topic cannot be read.
        """
        if not self._places.acquire(blocking=False):
            raise OptionsError("page", (f"{MAX_TAILS} live tails are open: close one of these pages",))
        try:
            return Tail(make_reader().follow(), self._places.release)
        except BaseException:
            self._places.release()
            raise


class Tail:
    """Messages of a topic as they come.

    Args:
        messages: Yields them, or None while there is none.
        on_close: Called once it is closed.

    Attributes:
        closing: The thread that closes it, once it is to close.
    """

    def __init__(self, messages: Iterator[dict[str, Any] | None], on_close: Callable[[], None]) -> None:
        self._messages = messages
        self._on_close = on_close
        self._lock = threading.Lock()
        self.closing: list[threading.Thread] = []

    def take(self) -> dict[str, Any] | None:
        """Wait about half a second at most for messages; None where none came."""
        with self._lock:
            return next(self._messages, None)

    def close(self) -> None:
        """Close the consumer, in a thread of its own: another one may still wait for messages."""
        thread = threading.Thread(target=self._close, name="millrace-ui-tail", daemon=True)
        self.closing.append(thread)
        thread.start()

    def _close(self) -> None:
        with self._lock:
            close = getattr(self._messages, "close", None)
            if close is not None:
                close()
        self._on_close()
