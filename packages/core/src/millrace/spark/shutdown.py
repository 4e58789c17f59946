"""Release a stream's resources before Spark terminates the process that plans it, often while its reader is stopped."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable


class Shutdown:
    """Release once, when it is called or when the process is told to terminate, whichever comes first.

    A release that is under way is never begun a second time: a signal in the middle of it would wait for locks that the
    interrupted call holds. It goes on, and the process ends after it.

    Args:
        release: What to do before the end.
    """

    def __init__(self, release: Callable[[], None]) -> None:
        self._release = release
        self._is_releasing = False
        self._has_released = False
        self._is_terminated = False

    def __call__(self) -> None:
        """Release, unless that has been done; does not return when the process is told to terminate meanwhile."""
        try:
            if not self._has_released:
                self._is_releasing = True
                self._release()
        finally:
            self._is_releasing, self._has_released = False, True
            if self._is_terminated:
                os._exit(128 + signal.SIGTERM)

    def listen(self) -> None:
        """Release when this process is told to terminate, unless somebody else handles that signal."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._terminate)

    def _terminate(self, *_: object) -> None:
        self._is_terminated = True
        if not self._is_releasing:
            self()
