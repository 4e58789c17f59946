"""Partitioning: which partition each record goes to."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import Partitioner, Payloads
from millrace.errors import MessageError
from millrace.records.record_columns import Records


def choose_partitions(partitioner: Partitioner, name: str, records: Records, count: int) -> pa.Int32Array | None:
    """The partition of each record, int32, null where the client decides; None when it decides for all.

    What the rows themselves ask for wins over the partitioner.

    Args:
        partitioner: Who decides.
        name: How the user named it, for errors.
        records: What to write.
        count: How many partitions the topic has.

    Raises:
        MessageError: A partition that the topic does not have, or a result of another length.
    """
    asked = records.partitions
    if asked is None or asked.null_count:
        keys = records.keys or Payloads.nulls(len(records))
        chosen = partitioner.partition(records.topic, keys, records.values, count)
        if len(chosen) != len(records):
            raise MessageError(f"partitioner {name!r} gave {len(chosen)} partitions for {len(records)} records")
        _check_range(chosen, f"partitioner {name!r}", records.topic, count)
        asked = chosen if asked is None else pc.coalesce(asked, chosen)
    if records.partitions is not None:
        _check_range(records.partitions, f"column {records.partition_column!r}", records.topic, count)
    return None if asked.null_count == len(asked) else asked


def _check_range(partitions: pa.Int32Array, source: str, topic: str, count: int) -> None:
    bounds = pc.min_max(partitions)
    for bound in (bounds["min"].as_py(), bounds["max"].as_py()):
        if bound is not None and not 0 <= bound < count:
            raise MessageError(
                f"{source} gave partition {bound} of topic {topic!r}, which has partitions 0 to {count - 1}"
            )
