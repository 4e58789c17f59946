"""The end of the process that plans a stream: Spark terminates it, often while its reader is told to stop."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable


class Ending:
    """Stops once, when it is called or when the process is told to terminate, whichever comes first.

    What is under way is never begun a second time: a signal in the middle of it would wait for locks that the
    interrupted call holds. It goes on, and the process ends after it.

    Args:
        stop: What to do before the end.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._is_stopping = False
        self._has_stopped = False
        self._is_terminated = False

    def __call__(self) -> None:
        """Stop, unless that has been done; does not return when the process is told to terminate meanwhile."""
        try:
            if not self._has_stopped:
                self._is_stopping = True
                self._stop()
        finally:
            self._is_stopping, self._has_stopped = False, True
            if self._is_terminated:
                os._exit(128 + signal.SIGTERM)

    def listen(self) -> None:
        """Stop when this process is told to terminate, unless somebody else takes care of that signal."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._terminate)

    def _terminate(self, *_: object) -> None:
        self._is_terminated = True
        if not self._is_stopping:
            self()
