"""The partitioner ``default``: chooses none itself."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Partitioner, Payloads


class DefaultPartitioner(Partitioner):
    """Leave every record to the producer.

    It partitions as the Java client does: a record with a key by murmur2 of its key, records without a key together to
    one partition at a time (sticky).
    """

    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        """Return null for every record: see `Partitioner.partition`."""
        return pa.nulls(len(values), pa.int32())
