"""The columns of Spark's own Kafka connector, for writes without a format."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import Payloads, is_headers
from millrace.errors import MessageError, SchemaError
from millrace.sink.records import Headers, Records

_TEXT_OR_BYTES = "STRING or BINARY"


def _is_text_or_bytes(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_binary(kind)


_COLUMNS: dict[str, tuple[str, Callable[[pa.DataType], bool]]] = {
    "key": (_TEXT_OR_BYTES, _is_text_or_bytes),
    "value": (_TEXT_OR_BYTES, _is_text_or_bytes),
    "topic": ("STRING", pa.types.is_string),
    "partition": ("INT", pa.types.is_int32),
    "headers": ("ARRAY<STRUCT<key: STRING, value: BINARY>>", is_headers),
}


def check_kafka_columns(schema: pa.Schema, topics: tuple[str, ...]) -> None:
    """Refuse rows that cannot be written without a format.

    Raises:
        SchemaError: A column is unknown, of another type, or missing.
    """
    for field in schema:
        expected, accepts = _COLUMNS.get(field.name, ("", lambda _: False))
        if not expected:
            raise SchemaError(
                f"column {field.name!r} cannot be written: without the option 'format' the columns are "
                f"{', '.join(_COLUMNS)}. Give a format, such as 'json', or select these"
            )
        if not accepts(field.type):
            raise SchemaError(f"column {field.name!r} must be {expected} without the option 'format', not {field.type}")
    if "value" not in schema.names:
        raise SchemaError("a column 'value' is required without the option 'format'")
    if not topics and "topic" not in schema.names:
        raise SchemaError("give the option 'topic', or a column 'topic' that names each row's topic")


def records_of(rows: pa.RecordBatch, topics: tuple[str, ...]) -> Iterator[Records]:
    """The records that rows stand for, by topic; the option 'topic' wins over a column 'topic', as in Spark."""
    if topics:
        yield _records(topics[0], rows)
        return
    names = rows.column("topic")
    if names.null_count:
        raise MessageError("a row has no topic: its column 'topic' is NULL and the option 'topic' is not given")
    distinct = pc.unique(names)
    for name in distinct.to_pylist():
        yield _records(name, rows if len(distinct) == 1 else rows.filter(pc.equal(names, name)))


def _records(topic: str, rows: pa.RecordBatch) -> Records:
    names = rows.schema.names
    return Records(
        topic,
        values=Payloads(rows.column("value").cast(pa.binary())),
        keys=Payloads(rows.column("key").cast(pa.binary())) if "key" in names else None,
        headers=_headers(rows.column("headers")) if "headers" in names else None,
        partitions=rows.column("partition") if "partition" in names else None,
    )


def _headers(column: pa.ListArray) -> list[Headers | None]:
    if pc.struct_field(column.flatten(), "key").null_count:
        raise MessageError("column 'headers' has a header without a key; every header needs one")
    return [None if row is None else [(header["key"], header["value"]) for header in row] for row in column.to_pylist()]
