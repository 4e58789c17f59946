"""Dirty data: what becomes of malformed messages."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from millrace.configuration import SourceConfig
from millrace.errors import MessageError
from millrace.records.messages import Messages
from millrace.source.reader.dead_letters import collector_for
from millrace.source.reader.malformed_record import MalformedRecord
from millrace.source.reader.split_metrics import SplitMetrics

logger = logging.getLogger("millrace.dirty_data")

MAX_COUNT = "ingestion.error-tolerance.max-count"


class ErrorPolicy:
    """What becomes of the malformed messages of one task: an error, or they are counted, collected and skipped.

    Args:
        config: How to read.
        tally: Where to count them.
    """

    def __init__(self, config: SourceConfig, tally: SplitMetrics) -> None:
        self._tolerates = config.options.ignore_errors
        self._most = config.options.max_errors
        self._collector = collector_for(config)
        self._tally = tally
        self._last: MalformedRecord | None = None

    def take(self, messages: Messages, bad: Sequence[MalformedRecord]) -> None:
        """Take malformed messages.

        Args:
            messages: What was read together.
            bad: Those of them that are malformed.

        Raises:
            MessageError: They are not tolerated, or this task has met too many.
            DeliveryError: Earlier ones could not be delivered to the topic that collects them.
        """
        if not self._tolerates:
            others = f"; {len(bad) - 1} more of {len(messages.items)} messages read together are malformed"
            raise MessageError(f"{bad[0]}{others if len(bad) > 1 else ''}. {bad[0].advice}")
        self._last = bad[-1]
        self._tally.malformed(messages.partition, len(bad))
        self._collector.take(bad)
        if self._is_too_many(self._tally.errors):
            self._collector.finish()
            raise self._too_many(self._tally.errors, "this task")

    def finish(self) -> None:
        """Return when all that were taken are where they are collected.

        Raises:
            DeliveryError: Some could not be delivered to the topic that collects them.
        """
        self._collector.finish()
        if self._last is not None:
            logger.warning(
                "malformed messages skipped by this task (option 'ingestion.ignore-errors'): %d, the last one in %s",
                self._tally.errors,
                self._last.place,
            )

    @property
    def must_ask(self) -> bool:
        """Whether all tasks of the query together may have met too many, which the driver knows."""
        return self._last is not None and self._most >= 0

    def check(self, met: int | None) -> None:
        """Fail when all tasks of the query together have met too many.

        Args:
            met: How many they have met; None when the driver did not tell.

        Raises:
            MessageError: These are too many.
        """
        if met is None:
            logger.warning(
                "the driver does not tell how many malformed messages the query has met, so that option %r holds for "
                "this task alone. Give an address of the driver by option 'scan.metrics.address'",
                MAX_COUNT,
            )
        elif self._is_too_many(met):
            raise self._too_many(met, "this query")

    def _is_too_many(self, met: int) -> bool:
        return 0 <= self._most < met

    def _too_many(self, met: int, who: str) -> MessageError:
        return MessageError(
            f"malformed messages met by {who}: {met}, more than the {self._most} that option {MAX_COUNT!r} allows. The "
            f"last one is a {self._last}"
        )
