"""Log malformed messages, but no flood of them."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from millrace.contracts import DeadLetter, DeadLetterCollector, RecordProducer

logger = logging.getLogger("millrace.dirty_data")

MAX_LOGGED = 10
LOG_PERIOD_S = 10.0
"""A worker logs at most this many messages per period; at its end, each task logs how many were left out."""


class RateLimit:
    """Allow an action a limited number of times in each period.

    Args:
        max_count: How many times.
        period_s: The period, in seconds; it begins with the first time.
        clock: Monotonic clock, in seconds.
    """

    def __init__(self, max_count: int, period_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_count = max_count
        self._period_s = period_s
        self._clock = clock
        self._period_began_at = -period_s
        self._count = 0

    def try_acquire(self) -> bool:
        """Return whether it is allowed once more now; counts it if so."""
        now = self._clock()
        if now - self._period_began_at >= self._period_s:
            self._period_began_at, self._count = now, 0
        if self._count >= self._max_count:
            return False
        self._count += 1
        return True


@functools.cache
def worker_rate_limit() -> RateLimit:
    """Return the rate limit that the tasks of this process share."""
    return RateLimit(MAX_LOGGED, LOG_PERIOD_S)


class LogCollector(DeadLetterCollector):
    """Log malformed messages as warnings of the logger ``millrace.dirty_data``.

    Args:
        options: It has none.
        rate_limit: How many to log; by default what all tasks of this process share.
    """

    def __init__(self, options: Any = None, rate_limit: RateLimit | None = None) -> None:
        super().__init__(options)
        self._rate_limit = rate_limit or worker_rate_limit()
        self._left_out = 0

    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        """Log as many messages as the rate limit allows."""
        for letter in letters:
            if self._rate_limit.try_acquire():
                logger.warning("%s. It is skipped", letter)
            else:
                self._left_out += 1

    def finish(self) -> None:
        """Log how many messages were left out."""
        if self._left_out:
            logger.warning(
                "This task skipped %d more malformed messages that are not logged (limit: %d per %.0f s)",
                self._left_out,
                MAX_LOGGED,
                LOG_PERIOD_S,
            )
