"""The end of the process that plans a stream: Spark terminates it without a word to the reader."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable


def call_at_end(stop: Callable[[], None]) -> None:
    """Call ``stop`` when this process is told to terminate, unless somebody else takes care of that signal."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda *_: _end(stop))


def _end(stop: Callable[[], None]) -> None:
    try:
        stop()
    finally:
        os._exit(128 + signal.SIGTERM)
