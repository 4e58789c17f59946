"""Which columns of the rows carry what a record has beside the value that a format writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import pyarrow as pa

from millrace.contracts import is_headers
from millrace.errors import SchemaError
from millrace.options.metadata import MetadataColumn

Carriers = Mapping[str, str]
"""The columns of the rows by the metadata keys that they carry."""

KEY, VALUE = "__raw_key__", "__raw_value__"


class Writable(NamedTuple):
    """Metadata that can be written.

    Attributes:
        sql_type: The type of its column, as Spark SQL writes it.
        accepts: Whether a column may have an Arrow type.
    """

    sql_type: str
    accepts: Callable[[pa.DataType], bool]


def _is_time(kind: pa.DataType) -> bool:
    return pa.types.is_int64(kind) or (pa.types.is_timestamp(kind) and kind.tz is not None)


def _is_header_map(kind: pa.DataType) -> bool:
    return pa.types.is_map(kind) and (kind.key_type, kind.item_type) == (pa.string(), pa.binary())


_TEXT_OR_BYTES = Writable("STRING or BINARY", lambda kind: pa.types.is_string(kind) or pa.types.is_binary(kind))

WRITABLE = {
    "topic": Writable("STRING", pa.types.is_string),
    "partition": Writable("INT", pa.types.is_int32),
    "timestamp": Writable("TIMESTAMP or BIGINT (ms since 1970)", _is_time),
    "headers": Writable("MAP<STRING, BINARY>", _is_header_map),
    "header-list": Writable("ARRAY<STRUCT<key: STRING, value: BINARY>>", is_headers),
    KEY: _TEXT_OR_BYTES,
    VALUE: _TEXT_OR_BYTES,
}


def metadata_carriers(schema: pa.Schema, chosen: Collection[MetadataColumn]) -> dict[str, str]:
    """The columns that the option ``metadata.columns`` names.

    Args:
        schema: The rows' columns.
        chosen: The value of the option. What only a read has may stand there as long as the rows lack it.

    Raises:
        SchemaError: A column is missing or of another type, cannot be written, or two carry the same.
    """
    carriers: dict[str, str] = {}
    for key, column in chosen:
        writable = WRITABLE.get(key)
        if writable is None:
            _refuse_read_only(schema, key, column)
        elif column not in schema.names:
            raise SchemaError(
                f"option 'metadata.columns' names column {column!r} ({key}), which the rows lack: add {column} "
                f"{writable.sql_type}, or leave it out of the option"
            )
        else:
            check_type(writable, f"metadata column {column!r} ({key})", schema.field(column).type)
            carry(carriers, key, column)
    return carriers


def check_type(writable: Writable, what: str, kind: pa.DataType, when: str = "") -> None:
    """Refuse a column of another type than its metadata has.

    Args:
        writable: What it carries.
        what: The column, for the message.
        kind: The column's type.
        when: The condition of the rule, for the message; begins with a blank.

    Raises:
        SchemaError: It is of another type.
    """
    if not writable.accepts(kind):
        raise SchemaError(f"{what} must be {writable.sql_type}{when}, not {kind}")


def carry(carriers: dict[str, str], key: str, column: str) -> None:
    """Add a column to the carriers.

    Raises:
        SchemaError: Another one carries the same; headers come as a map or as a list, not as both.
    """
    same = {"headers", "header-list"} if key in ("headers", "header-list") else {key}
    for other in same & carriers.keys():
        raise SchemaError(
            f"columns {carriers[other]!r} ({other}) and {column!r} ({key}) exclude each other: a record takes one of "
            f"them; drop the other column, or its entry in the option 'metadata.columns'"
        )
    carriers[key] = column


def _refuse_read_only(schema: pa.Schema, key: str, column: str) -> None:
    if column in schema.names:
        why = "which only a read has" if key.startswith("value.") else "since Kafka sets it"
        raise SchemaError(
            f"metadata column {column!r} ({key}) cannot be written, {why}: drop the column, or its entry in the option "
            f"'metadata.columns'"
        )
