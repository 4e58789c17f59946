"""Messages of Canal in Protocol Buffers: a packet with one entry, whose change has one row.

The definitions are CanalProtocol.proto and EntryProtocol.proto of https://github.com/alibaba/canal. Fields that say
where in MySQL's log a change was are left out.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from millrace_cdc.rows import exact_json

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_MESSAGES_PACKET, _ROW_DATA, _MYSQL, _VERSION = 7, 2, 2, 1
_EVENT_TYPES = {"c": 1, "u": 2, "d": 3}
_VARINT, _LENGTH = 0, 2
_SEVEN_BITS = 0x7F


def canal_packet(
    database: str | None, table: str, schema: StructType, primary_key: tuple[str, ...]
) -> Callable[[str, bytes, bytes], bytes]:
    """Return a function that makes the values of a table's messages.

    Args:
        database: Name of the database; None where the table's id has only one part.
        table: Name of the table.
        schema: Its columns.
        primary_key: The columns of its primary key.
    """
    columns = [
        _CanalColumn.of(index, field.name, field.dataType, field.name in primary_key)
        for index, field in enumerate(schema)
    ]
    decode = exact_json.decode
    headers = {operation: _header(database, table, kind) for operation, kind in _EVENT_TYPES.items()}

    def encode_row(row: dict[str, Any], other: dict[str, Any] | None, field: int) -> bytes:
        return b"".join(
            _bytes(field, column.encode(value, is_updated=other is not None and value != other[column.name]))
            for column in columns
            for value in (row[column.name],)
        )

    def make(operation: str, before: bytes, after: bytes) -> bytes:
        old, new = (None if row == b"null" else decode(row) for row in (before, after))
        rows = (b"" if old is None else encode_row(old, None, 1)) + (b"" if new is None else encode_row(new, old, 2))
        change = _number(2, _EVENT_TYPES[operation]) + _number(10, 0) + _bytes(12, rows)
        entry = headers[operation] + _number(2, _ROW_DATA) + _bytes(3, change)
        return _number(3, _MESSAGES_PACKET) + _bytes(5, _bytes(2, entry))

    return make


def _header(database: str | None, table: str, kind: int) -> bytes:
    names = (b"" if database is None else _bytes(8, database.encode())) + _bytes(9, table.encode())
    return _bytes(1, _number(1, _VERSION) + _bytes(5, b"UTF-8") + _number(7, _MYSQL) + names + _number(11, kind))


class _CanalColumn(NamedTuple):
    """A column, of which only the value differs between messages."""

    name: str
    start: bytes
    end: bytes
    text: Callable[[Any], str]

    @classmethod
    def of(cls, index: int, name: str, type_: DataType, is_key: bool) -> _CanalColumn:
        jdbc_type, mysql_type, text = _mapping(type_)
        start = _number(1, index) + _number(2, jdbc_type) + _bytes(3, name.encode()) + _number(4, int(is_key))
        return cls(name, start, _bytes(10, mysql_type.encode()), text)

    def encode(self, value: Any, *, is_updated: bool) -> bytes:
        state = _number(5, int(is_updated)) + _number(6, int(value is None))
        content = b"" if value is None else _bytes(8, self.text(value).encode())
        return b"".join((self.start, state, content, self.end))


def _mapping(type_: DataType) -> tuple[int, str, Callable[[Any], str]]:
    """Return the type in java.sql.Types, the type in MySQL, and a function to the text that Canal has of a value."""
    from pyspark.sql.types import ArrayType, DecimalType, MapType, StructType

    if isinstance(type_, DecimalType):
        return 3, f"decimal({type_.precision},{type_.scale})", "{:f}".format
    if isinstance(type_, ArrayType | MapType | StructType):
        return 12, "json", lambda value: exact_json.encode(value).decode()
    return _TYPES.get(type_.simpleString().partition("(")[0], (12, "text", str))


def _bits(value: bool) -> str:
    return "1" if value else "0"


def _shortest(value: Decimal | int | str) -> str:
    # Infinity and NaN are texts
    return value if isinstance(value, str) else exact_json.encode(float(value)).decode()


def _latin_1(value: str) -> str:
    # Each byte is a character, as Canal reads bytes
    return base64.b64decode(value).decode("latin-1")


_TYPES: dict[str, tuple[int, str, Callable[[Any], str]]] = {
    "boolean": (-7, "bit(1)", _bits),
    "tinyint": (-6, "tinyint", str),
    "smallint": (5, "smallint", str),
    "int": (4, "int", str),
    "bigint": (-5, "bigint", str),
    "float": (7, "float", _shortest),
    "double": (8, "double", _shortest),
    "date": (91, "date", str),
    "time": (92, "time(6)", str),
    "timestamp_ntz": (93, "datetime(6)", str),
    "timestamp": (93, "timestamp(6)", str),
    "binary": (2004, "blob", _latin_1),
}


def _varint(number: int) -> bytes:
    # Negative numbers have ten bytes, as int64
    number &= 0xFFFF_FFFF_FFFF_FFFF
    encoded = bytearray()
    while number > _SEVEN_BITS:
        encoded.append(number & _SEVEN_BITS | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | _LENGTH) + _varint(len(value)) + value
