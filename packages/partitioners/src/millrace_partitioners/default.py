"""The partitioner ``default``: leaves the choice to the producer."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Partitioner, Payloads


class DefaultPartitioner(Partitioner):
    """Leave every record to the producer.

    A record with a key goes to the partition that the Java client would choose, by murmur2 of its key. Records without
    a key go together to one partition at a time (sticky).
    """

    decides_by_key = True

    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        """Return null for every record: see `Partitioner.partition`."""
        return pa.nulls(len(values), pa.int32())
