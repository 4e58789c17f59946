"""Messages of Debezium and Canal: one for each change, an update with the rows before and after.

The fields are those of https://debezium.io/documentation/reference/stable/connectors/ and of Canal's FlatMessage.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from millrace_cdc.connectors.kafka.canal_protobuf import canal_packet
from millrace_cdc.connectors.kafka.connect_rows import connect_struct, row_encoder
from millrace_cdc.rows.compiled_readers import object_reader, raw_reader
from millrace_cdc.table_id import MOST_PARTS, table_id

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

ValueFormat = Literal["debezium-json", "canal-json", "canal-protobuf"]
KeyFormat = Literal["json", "csv"]
MessageValue = Callable[[str, bytes, bytes], bytes]
"""Makes a message of an operation and the JSON of the rows before and after it; ``null`` for none."""

_CANAL_TYPES = {"c": "INSERT", "u": "UPDATE", "d": "DELETE"}

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class MessageSettings:
    """Settings of messages; plain data that travels to executors.

    Attributes:
        value_format: The format of values.
        key_format: The format of keys.
        includes_schema: Whether a value of debezium-json holds its schema beside the payload.
        has_full_table_id: Whether a value of debezium-json names all three parts of a table's id.
    """

    value_format: ValueFormat = "debezium-json"
    key_format: KeyFormat = "json"
    includes_schema: bool = False
    has_full_table_id: bool = False


def message_value(
    settings: MessageSettings, table: str, schema: StructType, primary_key: tuple[str, ...]
) -> MessageValue:
    """Return a function that makes the values of a table's messages.

    Args:
        settings: Settings of messages.
        table: Id of the table.
        schema: Its columns.
        primary_key: The columns of its primary key.
    """
    if settings.value_format == "canal-json":
        return _canal(table, primary_key)
    if settings.value_format == "canal-protobuf":
        return canal_packet(*_canal_names(table), schema, primary_key)
    return _debezium(settings, table, schema)


def message_key(key_format: KeyFormat, primary_key: tuple[str, ...]) -> Callable[[bytes], bytes | None]:
    """Return a function from the JSON of a row to the key of its message: None for a table without primary key."""
    if not primary_key:
        return lambda _: None
    if key_format == "json":
        return object_reader(primary_key)
    values_of = raw_reader(primary_key)
    return lambda row: _csv_line(values_of(row))


def _debezium(settings: MessageSettings, table: str, schema: StructType) -> MessageValue:
    source = _debezium_source(table, full=settings.has_full_table_id)
    # Everything but the rows is the same in all messages of a table
    start, end = b'{"before":', b""
    encode_row = None
    if settings.includes_schema:
        start = b'{"schema":' + _encode(_connect_schema(table, schema, source)) + b',"payload":' + start
        end = b"}"
        encode_row = row_encoder(schema)
    tails = {operation: b',"op":"%b","source":%b}' % (operation.encode(), _encode(source)) for operation in "cud"}

    def make(operation: str, before: bytes, after: bytes) -> bytes:
        if encode_row is not None:
            before, after = encode_row(before), encode_row(after)
        return b"".join((start, before, b',"after":', after, tails[operation], end))

    return make


def _debezium_source(table: str, *, full: bool) -> dict[str, str]:
    parts = table_id(table).parts
    if len(parts) == MOST_PARTS and full:
        return dict(zip(("db", "schema", "table"), parts, strict=True))
    if len(parts) == 1:
        return {"table": table}
    return {"schema" if full else "db": parts[-2], "table": parts[-1]}


def _canal_names(table: str) -> tuple[str | None, str]:
    *outer, name = table_id(table).parts
    return outer[-1] if outer else None, name


def _canal(table: str, primary_key: tuple[str, ...]) -> MessageValue:
    database, name = _canal_names(table)
    tails = {
        operation: b',"type":"%b",' % type_.encode()
        + _encode({"database": database, "table": name, "pkNames": list(primary_key)})[1:]
        for operation, type_ in _CANAL_TYPES.items()
    }

    def make(operation: str, before: bytes, after: bytes) -> bytes:
        has_old_row = operation == "u" and before != b"null"
        old = b'{"old":[%b],"data":[' % before if has_old_row else b'{"old":null,"data":['
        return b"".join((old, before if operation == "d" else after, b"]", tails[operation]))

    return make


def _connect_schema(table: str, schema: StructType, source: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema of a message as Kafka Connect's JsonConverter writes it."""
    row = connect_struct(schema) | {"optional": True, "name": f"{table}.Value"}
    names = [{"type": "string", "optional": False, "field": name} for name in source]
    fields = [
        row | {"field": "before"},
        row | {"field": "after"},
        {"type": "string", "optional": False, "field": "op"},
        {"type": "struct", "fields": names, "optional": False, "field": "source"},
    ]
    return {"type": "struct", "fields": fields, "optional": False, "name": f"{table}.Envelope"}


def _csv_line(values: Iterable[msgspec.Raw]) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([_csv_value(bytes(value)) for value in values])
    return line.getvalue().encode()


def _csv_value(value: bytes) -> str:
    if value == b"null":
        return ""
    return str(msgspec.json.decode(value)) if value.startswith(b'"') else value.decode()
