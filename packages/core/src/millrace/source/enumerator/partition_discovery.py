"""Which partitions a query reads, and the discovery of those that come and go while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.source.enumerator.subscriber import Found, Selection

CERTAIN_S = 3.0
"""How long partitions that were read must be missing before they count as gone: a broker that has just started may not
know all topics yet."""

PAUSE_S = 0.5


class Subscription:
    """The partitions of a selection, looked up again from time to time.

    Args:
        cluster: Where the topics are.
        selection: What to read.
        discovery_interval_ms: How long a look-up holds; 0 or less for ever.
        forget: Whether a stream that has begun goes on without topics that do not exist.
        clock: Seconds that never go back.
        pause: Waits for some seconds.
    """

    def __init__(
        self,
        cluster: KafkaAdmin,
        selection: Selection,
        discovery_interval_ms: int,
        *,
        forget: bool = False,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._cluster = cluster
        self._selection = selection
        self._interval_s = discovery_interval_ms / 1000
        self._forget = forget
        self._clock = clock
        self._pause = pause
        self._found: Found | None = None
        self._looked_at = 0.0

    def find(self, read: Collection[TopicPartition] = ()) -> Found:
        """What the selection finds; looked up at first and then again whenever the interval has passed.

        Args:
            read: What was read before, and may be gone by now; what else was named must exist.

        Raises:
            UnreachableError, UnknownTopicError: As `Selection.find`.
        """
        if self._found is None or self._is_due():
            return self.find_again(read)
        return self._found

    def find_again(self, read: Collection[TopicPartition]) -> Found:
        """What the selection finds now: see `find`."""
        self._found = self._look(read)
        self._looked_at = self._clock()
        return self._found

    def _look(self, read: Collection[TopicPartition]) -> Found:
        certain_at = self._clock() + CERTAIN_S
        may_lack = None if self._forget and read else read
        while True:
            found = self._selection.find(self._cluster, may_lack)
            if self._clock() >= certain_at or not set(read) - set(found.partitions):
                return found
            self._pause(PAUSE_S)

    def _is_due(self) -> bool:
        return self._interval_s > 0 and self._clock() - self._looked_at >= self._interval_s
