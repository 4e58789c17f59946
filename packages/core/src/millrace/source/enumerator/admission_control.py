"""The pace of a stream: how far its next micro-batch goes when it does not take all there is."""

from __future__ import annotations

import time
from collections.abc import Callable

from millrace.kafka.admin import KafkaAdmin
from millrace.options.connector import SourceOptions
from millrace.options.secrets import Properties
from millrace.source.enumerator.alignment import Alignment
from millrace.source.enumerator.read_limits import limit_rows
from millrace.source.enumerator.record_probe import mean_record_bytes
from millrace.source.enumerator.stream_offset import Offsets

ASSUMED_RECORD_BYTES = 1_000.0
"""The size of a record as long as none was seen."""

_SURELY = 10
"""How many times larger records may have become before a batch that seems to fit is looked at again."""


class AdmissionControl:
    """Finds the end of each micro-batch by the user's limits.

    Args:
        options: The limits.
        client: Properties for the Kafka client.
        cluster: Where the topics are.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        options: SourceOptions,
        client: Properties,
        cluster: KafkaAdmin,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._client = client
        self._clock = clock
        self._record_bytes = ASSUMED_RECORD_BYTES
        self._has_sampled = False
        self._last_batch_at: float | None = None
        self._alignment = Alignment.of(options, client, cluster, clock)

    def end(self, begin: Offsets, available: Offsets, *, draining: bool) -> Offsets:
        """Where the next micro-batch ends.

        Args:
            begin: Where it begins.
            available: How far it could go; of the same partitions or fewer.
            draining: Whether nothing more is waited for.
        """
        start = {partition: begin[partition] for partition in available}
        if not draining and self._is_too_little(start, available):
            return start
        max_rows = self._max_rows(start, available)
        if self._alignment:
            available = self._alignment.end(start, available, max_rows, draining=draining)
        end = available if max_rows is None else limit_rows(start, available, max_rows)
        if end != start:
            self._last_batch_at = self._clock()
        return end

    def _is_too_little(self, start: Offsets, available: Offsets) -> bool:
        least, last = self._options.min_records_per_batch, self._last_batch_at
        if least is None or last is None or self._clock() - last >= self._options.max_batch_delay_ms / 1000:
            return False
        return sum(available.values()) - sum(start.values()) < least

    def _max_rows(self, start: Offsets, available: Offsets) -> int | None:
        max_rows, max_bytes = self._options.max_records_per_batch, self._options.max_bytes_per_batch
        if max_bytes is None or available == start:
            return max_rows
        waiting = sum(available.values()) - sum(start.values())
        if self._has_sampled and waiting * self._record_bytes * _SURELY < max_bytes:
            return max_rows
        sampled = mean_record_bytes(self._client, start, available)
        self._has_sampled = sampled is not None
        self._record_bytes = sampled or self._record_bytes
        fitting = max(1, int(max_bytes / self._record_bytes))
        return fitting if max_rows is None else min(max_rows, fitting)
