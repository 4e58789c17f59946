"""Retries of what a sink does while its database, catalog or storage is away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from millrace.errors import MillraceError

T = TypeVar("T")

logger = logging.getLogger("millrace.pipelines")

_FIRST_DELAY_S, _MAX_DELAY_S = 1.0, 30.0
_LOOK_S = 0.5
"""Time between two looks whether the pipeline is to stop."""


class SinkRetries:
    """Do again what a sink could not do for the moment.

    Args:
        max_retries: How often.
        is_running: Returns whether the pipeline runs, and nobody stops it.
        sleep: Waits some seconds.
    """

    def __init__(
        self, max_retries: int, is_running: Callable[[], bool], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._max_retries = max_retries
        self._is_running = is_running
        self._sleep = sleep

    def run(self, action: Callable[[], T]) -> T:
        """Run an action of the sink, and return its result.

        Raises:
            MillraceError: It has failed for good, once more than retries are allowed, or while the pipeline is stopped.
        """
        for number, delay_s in enumerate(self._delays(), start=1):
            try:
                return action()
            except MillraceError as error:
                if not error.is_transient or error.failed_table is not None:
                    raise
                text = "the sink is away, and the micro-batch is tried again in %.0f s (%d of %d): %s"
                logger.warning(text, delay_s, number, self._max_retries, error)
                if not self._wait(delay_s):
                    raise
        return action()

    def _delays(self) -> Iterator[float]:
        delay_s = _FIRST_DELAY_S
        for _ in range(self._max_retries):
            yield delay_s
            delay_s = min(2 * delay_s, _MAX_DELAY_S)

    def _wait(self, delay_s: float) -> bool:
        """Wait, and return whether the pipeline still runs; Spark cannot interrupt Python where it sleeps."""
        remaining_s = delay_s
        while remaining_s > 0 and self._is_running():
            self._sleep(min(_LOOK_S, remaining_s))
            remaining_s -= _LOOK_S
        return self._is_running()
