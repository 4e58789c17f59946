"""Records to produce to Kafka, in columns."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from millrace.contracts import Payloads

Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class ProducerRecords:
    """Records to produce to one topic.

    Attributes:
        topic: The topic.
        values: Their values, None for a tombstone.
        keys: Their keys; None when no record has one.
        headers: Their headers; None when no record has any.
        partitions: The partitions that the rows ask for, int32, null where they do not; None when no row does.
        timestamps: Their timestamps, int64, ms since 1970, null for the time of writing; None when none has one.
        partition_column: The column of the rows that holds the partitions, for errors.
    """

    topic: str
    values: Payloads
    keys: Payloads | None = None
    headers: list[Headers] | None = None
    partitions: pa.Int32Array | None = None
    timestamps: pa.Int64Array | None = None
    partition_column: str = "partition"

    @property
    def is_values_only(self) -> bool:
        """True if there are only values, in whatever partitions."""
        return self.keys is None and self.headers is None and self.timestamps is None

    @property
    def size(self) -> int:
        """The number of bytes in keys and values."""
        return self.values.size + (0 if self.keys is None else self.keys.size)

    def __len__(self) -> int:
        return len(self.values)
