"""Which partitions a query reads, and the discovery of those that are added while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable

from millrace.contracts import TopicPartition
from millrace.kafka.cluster import Cluster
from millrace.source.selection import Selection


class Subscription:
    """The partitions of a selection, looked up again from time to time.

    Args:
        cluster: Where the topics are.
        selection: What to read.
        discovery_interval_ms: How long a look-up holds; 0 or less for ever.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        cluster: Cluster,
        selection: Selection,
        discovery_interval_ms: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._selection = selection
        self._interval_s = discovery_interval_ms / 1000
        self._clock = clock
        self._partitions: tuple[TopicPartition, ...] | None = None
        self._looked_at = 0.0

    def partitions(self) -> tuple[TopicPartition, ...]:
        """All partitions, in order; looked up at first and then again whenever the interval has passed.

        Raises:
            UnreachableError, UnknownTopicError: As `Selection.partitions`.
        """
        if self._partitions is None or self._is_due():
            self._partitions = self._selection.partitions(self._cluster)
            self._looked_at = self._clock()
        return self._partitions

    def _is_due(self) -> bool:
        return self._interval_s > 0 and self._clock() - self._looked_at >= self._interval_s
