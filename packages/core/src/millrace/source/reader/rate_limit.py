"""How often something may be done."""

from __future__ import annotations

import time
from collections.abc import Callable


class RateLimit:
    """Allows something so many times in each span of time.

    Args:
        most: How many times.
        span_s: The span, in seconds; it begins with the first time.
        clock: Seconds that never go back.
    """

    def __init__(self, most: int, span_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._span_s = span_s
        self._clock = clock
        self._began_at = -span_s
        self._done = 0

    def allows(self) -> bool:
        """Whether it may be done once more now; counts it if so."""
        now = self._clock()
        if now - self._began_at >= self._span_s:
            self._began_at, self._done = now, 0
        if self._done >= self._most:
            return False
        self._done += 1
        return True
