"""Tell once that brokers do not answer while something runs, and once that they do again."""

from __future__ import annotations

import logging

from millrace.kafka.retry import SYSTEM_CLOCK, Clock

logger = logging.getLogger("millrace.brokers")

TOLD_AFTER_S = 5.0
"""Seconds without an answer after which it is told: brokers that hand partitions over are silent for a shorter time."""


class Outage:
    """The silence of brokers, as long as it lasts.

    Args:
        servers: The bootstrap servers.
        clock: Measures how long it lasts.
    """

    def __init__(self, servers: str, clock: Clock = SYSTEM_CLOCK) -> None:
        self._servers = servers
        self._clock = clock
        self._began: float | None = None

    def goes_on(self, silent_s: float, doing: str, errors: str, limit: str) -> None:
        """Tell of it, unless it is short or told.

        Args:
            silent_s: How long it has lasted, in seconds.
            doing: The action that waits, such as ``"looking up topics"``.
            errors: The client's errors; may be empty.
            limit: How long the action waits, in words.
        """
        if self._began is not None or silent_s < TOLD_AFTER_S:
            return
        self._began = self._clock.now() - silent_s
        logger.warning(
            "no answer from Kafka at %s for %.0f s when %s%s. It is waited for, %s",
            self._servers,
            silent_s,
            doing,
            f": {errors}" if errors else "",
            limit,
        )

    def ends(self) -> None:
        """Tell that it is over, if it was told."""
        if self._began is not None:
            logger.warning("Kafka at %s answers again, after %.0f s", self._servers, self._clock.now() - self._began)
            self._began = None
