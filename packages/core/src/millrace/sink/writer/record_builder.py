"""From columns that carry metadata to what records have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import HEADERS, Payloads
from millrace.errors import MessageError
from millrace.records.record_columns import Headers, Records
from millrace.sink.writer.writable_metadata import KEY, Carriers


def records_of(
    topic: str, values: Payloads, rows: pa.RecordBatch, carriers: Carriers, keys: Payloads | None = None
) -> Records:
    """Records of values, with what columns of the rows carry beside them.

    Args:
        topic: Where they go.
        values: Their values, one a row.
        rows: The rows.
        carriers: The columns that carry keys, headers, partitions and timestamps.
        keys: Their keys, where no column carries them.

    Raises:
        MessageError: A header has no key, or a timestamp is none that Kafka's client takes.
    """
    columns = {key: rows.column(name) for key, name in carriers.items()}
    headers = columns.get("headers", columns.get("header-list"))
    return Records(
        topic,
        values,
        keys=Payloads(columns[KEY]) if KEY in columns else keys,
        headers=None if headers is None else _headers(headers, carriers),
        partitions=columns.get("partition"),
        timestamps=_millis(columns["timestamp"], carriers["timestamp"]) if "timestamp" in columns else None,
        partition_column=carriers.get("partition", "partition"),
    )


def _headers(column: pa.Array, carriers: Carriers) -> list[Headers]:
    lists = column.cast(HEADERS)
    entries = lists.flatten()
    keys = pc.struct_field(entries, "key")
    if keys.null_count:
        raise MessageError(f"column {carriers['header-list']!r} has a header without a key; every header needs one")
    pairs = list(zip(_items(keys), _items(pc.struct_field(entries, "value")), strict=True))
    ends = np.cumsum(pc.list_value_length(lists).fill_null(0).to_numpy()).tolist()
    return [pairs[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _items(array: pa.Array) -> Sequence[Any]:
    # to_pylist makes a scalar object for each value and is many times slower
    items: Sequence[Any] = array.to_numpy(zero_copy_only=False).tolist()
    return items


def _millis(column: pa.Array, name: str) -> pa.Int64Array:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", column.type.tz), safe=False).cast(pa.int64())
    earliest = pc.min(column).as_py()
    if earliest is not None and earliest <= 0:
        raise MessageError(
            f"column {name!r} has the timestamp {earliest} (ms since 1970 UTC), but that of a record must be above 0; "
            f"a record whose timestamp is NULL gets the time of writing"
        )
    return column
