"""Choose the partition of each record."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import Partitioner, Payloads
from millrace.errors import MessageError
from millrace.records.producer_records import ProducerRecords


def choose_partitions(
    partitioner: Partitioner, name: str, records: ProducerRecords, count: int
) -> pa.Int32Array | None:
    """Choose the partition of each record; a partition that its row names wins over the partitioner.

    Args:
        partitioner: The partitioner.
        name: The user's name for it, for errors.
        records: The records of one topic.
        count: The number of partitions of the topic.

    Returns:
        int32, null where the producer chooses; None when it chooses for all records.

    Raises:
        MessageError: A partition does not exist, or the partitioner's result has the wrong length.
    """
    partitions = records.partitions
    if partitions is None or partitions.null_count:
        keys = records.keys or Payloads.nulls(len(records))
        computed = partitioner.partition(records.topic, keys, records.values, count)
        if len(computed) != len(records):
            raise MessageError(f"partitioner {name!r} gave {len(computed)} partitions for {len(records)} records")
        _check_range(computed, f"partitioner {name!r}", records.topic, count)
        partitions = computed if partitions is None else pc.coalesce(partitions, computed)
    if records.partitions is not None:
        # Whole numbers of any type may name partitions
        _check_range(records.partitions, f"column {records.partition_column!r}", records.topic, count)
    return None if partitions.null_count == len(partitions) else partitions.cast(pa.int32())


def _check_range(partitions: pa.Int32Array, source: str, topic: str, count: int) -> None:
    bounds = pc.min_max(partitions)
    for bound in (bounds["min"].as_py(), bounds["max"].as_py()):
        if bound is not None and not 0 <= bound < count:
            raise MessageError(
                f"{source} gave partition {bound} of topic {topic!r}, which has partitions 0 to {count - 1}"
            )
