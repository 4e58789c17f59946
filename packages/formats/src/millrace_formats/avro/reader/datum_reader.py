"""Read Avro's binary encoding one message at a time: the complete reader, which the fast one must equal.

Nothing that the bytes say of themselves is trusted: a length must fit the rest of the message, items that take no bytes
must be few, and what is nested deeper than Python can follow is an error. Bytes behind the value are ignored, as in
Flink. fastavro does not check these (a deep value ends its process), so that it cannot take this module's place.

The encoding: https://avro.apache.org/docs/1.12.0/specification/#binary-encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from millrace.errors import MalformedMessageError, MissingValueError
from millrace_formats.avro.reader.read_plan import (
    ListPlan,
    MapPlan,
    NullPlan,
    ReadPlan,
    RecordPlan,
    ScalarPlan,
    SkipPlan,
    TextMapPlan,
    UnionPlan,
    UnreadablePlan,
)
from millrace_formats.avro.schema.memory_budget import BUDGET, min_column_width
from millrace_formats.avro.schema.model import (
    INT_MAX,
    INT_MIN,
    AvroArray,
    AvroEnum,
    AvroMap,
    AvroType,
    Fixed,
    Primitive,
    Record,
    Union,
    can_be_empty,
)

MAX_EMPTY_ITEMS = 1_000_000
"""Items that take no bytes that a message may have, since its size does not bound their number."""

_LONG_MIN = -(1 << 63)
_LONG_MASK = (1 << 64) - 1
_MAX_VARINT_BITS = 70

Read = Callable[["Cursor"], Any]


class Cursor:
    """A position in a message, whose bytes are read from there on."""

    __slots__ = ("_column_bytes", "_data", "_empty_items", "_position")

    def __init__(self, data: bytes, position: int = 0) -> None:
        self._data = data
        self._position = position
        self._empty_items = 0
        self._column_bytes = 0

    def long(self) -> int:
        """Read an integer of 64 bits."""
        data, position = self._data, self._position
        try:
            bits = data[position]
            position += 1
            if bits >= 0x80:
                bits &= 0x7F
                shift = 7
                while (byte := data[position]) >= 0x80:
                    position += 1
                    bits |= (byte & 0x7F) << shift
                    shift += 7
                    if shift >= _MAX_VARINT_BITS:
                        raise MalformedMessageError("a number of more than 64 bits")
                position += 1
                bits = (bits | byte << shift) & _LONG_MASK
        except IndexError:
            raise MalformedMessageError("the message ends within a number") from None
        self._position = position
        return (bits >> 1) ^ -(bits & 1)

    def take(self, size: int, what: str) -> bytes:
        """Read a number of bytes."""
        position = self._position
        remaining = len(self._data) - position
        if not 0 <= size <= remaining:
            raise MalformedMessageError(f"{what} of {size} bytes, but the message has {remaining} more")
        self._position = position + size
        return self._data[position : self._position]

    def sized_bytes(self) -> bytes:
        """Read bytes or a string, whose size stands before them."""
        return self.take(self.long(), "a value")

    def index(self, count: int, what: str) -> int:
        """Read the index of one of ``count`` choices."""
        index = self.long()
        if not 0 <= index < count:
            raise MalformedMessageError(f"{what} index {index}, expected 0 to {count - 1}")
        return index

    def block(self, is_empty: bool, column_width: int = 0) -> int:
        """Read the number of items in the next block of a list or map; 0 at its end.

        Args:
            is_empty: Whether an item may take no bytes.
            column_width: Bytes that an item takes at least as a column.
        """
        while (count := self.long()) < 0:
            self.long()  # the size of the block in bytes
            if count != _LONG_MIN:
                return self._check_block(-count, is_empty, column_width)
        return self._check_block(count, is_empty, column_width)

    def _check_block(self, count: int, is_empty: bool, column_width: int) -> int:
        remaining = len(self._data) - self._position
        if is_empty:
            self._empty_items += count
            if self._empty_items > MAX_EMPTY_ITEMS:
                raise MalformedMessageError(
                    f"a block of {count} items that take no bytes; at most {MAX_EMPTY_ITEMS} are allowed"
                )
        elif count > remaining:
            raise MalformedMessageError(f"a block of {count} items, but the message has {remaining} bytes more")
        self._column_bytes += count * column_width
        if self._column_bytes > BUDGET:
            raise MalformedMessageError(f"its lists would take more than {BUDGET >> 20} MiB as columns")
        return count


class DatumReader:
    """Read messages of one schema.

    Args:
        plan: How they become rows.
    """

    def __init__(self, plan: ReadPlan) -> None:
        self._read = value_reader(plan)

    def read(self, payload: bytes | None, position: int = 0) -> tuple[Any, ...] | None:
        """Read the values of a message's columns; None for a null payload, and for a union's null.

        Args:
            payload: The message.
            position: The index of the first byte of its value.

        Raises:
            MalformedMessageError: It cannot be decoded.
        """
        if payload is None:
            return None
        try:
            return to_row(self._read(Cursor(payload, position)))
        except RecursionError:
            raise MalformedMessageError("nested too deeply") from None


def to_row(record: dict[str, Any] | None) -> tuple[Any, ...] | None:
    """Return the values of a record; None for the null branch of a union, which gives no row, as a null message."""
    return None if record is None else tuple(record.values())


def value_reader(plan: ReadPlan) -> Read:
    """Return a reader of the values of a plan, ready for ``pa.array``; records are dicts by column.

    The reader raises MalformedMessageError, or RecursionError for what is nested too deeply.
    """
    return _READERS[type(plan)](plan)


def _unreadable_reader(plan: UnreadablePlan) -> Read:
    def refuse(_: Cursor) -> Any:
        raise MalformedMessageError(plan.reason)

    return refuse


def _scalar_reader(plan: ScalarPlan) -> Read:
    read_raw, convert = raw_reader(plan.writer), plan.conversion.value
    return lambda cursor: convert(read_raw(cursor))


def _record_reader(plan: RecordPlan) -> Read:
    parts = [
        (field.name, value_reader(part), column)
        for field, (part, column) in zip(plan.writer.fields, plan.parts, strict=True)
    ]
    columns = [field.name for field in plan.fields]
    is_required = [not field.nullable for field in plan.fields]
    defaults: list[Any] = [plan.defaults.get(column) for column in range(len(columns))]

    def read(cursor: Cursor) -> dict[str, Any]:
        values = defaults.copy()
        for name, read_part, column in parts:
            try:
                value = read_part(cursor)
            except MalformedMessageError as error:
                raise error.within(name) from None
            if column is not None:
                if value is None and is_required[column]:
                    raise MissingValueError(columns[column])
                values[column] = value
        return dict(zip(columns, values, strict=True))

    return read


def _list_reader(plan: ListPlan) -> Read:
    read_item, is_required = value_reader(plan.item), not plan.field.nullable
    is_empty, column_width = can_be_empty(plan.writer.items), min_column_width(plan.field.type)

    def read(cursor: Cursor) -> list[Any]:
        items: list[Any] = []
        try:
            while count := cursor.block(is_empty, column_width):
                for _ in range(count):
                    item = read_item(cursor)
                    if item is None and is_required:
                        raise MissingValueError("")
                    items.append(item)
        except MalformedMessageError as error:
            raise error.within(f"[{len(items)}]") from None
        return items

    return read


def _map_reader(plan: MapPlan) -> Read:
    read_value, is_required = value_reader(plan.value), not plan.field.nullable
    column_width = min_column_width(plan.field.type)

    def read(cursor: Cursor) -> list[tuple[str, Any]]:
        pairs: dict[str, Any] = {}
        while count := cursor.block(False, column_width):
            for _ in range(count):
                key = _decode_key(cursor.sized_bytes())
                try:
                    value = read_value(cursor)
                    if value is None and is_required:
                        raise MissingValueError("")
                except MalformedMessageError as error:
                    raise error.within(f'["{key}"]') from None
                pairs[key] = value
        return list(pairs.items())

    return read


def _decode_key(key: bytes) -> str:
    try:
        return key.decode()
    except UnicodeDecodeError:
        raise MalformedMessageError("a key that is not UTF-8") from None


def _text_map_reader(plan: TextMapPlan) -> Read:
    parts = [
        (field.name, value_reader(part), isinstance(part, SkipPlan))
        for field, part in zip(plan.writer.fields, plan.parts, strict=True)
    ]

    def read(cursor: Cursor) -> list[tuple[str, str | None]]:
        pairs = []
        for name, read_part, is_skipped in parts:
            try:
                text = read_part(cursor)
            except MalformedMessageError as error:
                raise error.within(name) from None
            if not is_skipped:
                pairs.append((name, text))
        return pairs

    return read


def _union_reader(plan: UnionPlan) -> Read:
    return _branch_reader([value_reader(branch) for branch in plan.branches])


def _branch_reader(branches: list[Read]) -> Read:
    count = len(branches)
    return lambda cursor: branches[cursor.index(count, "union branch")](cursor)


def _skipper(type_: AvroType, record_skippers: dict[int, Read]) -> Read:
    """Return a function that passes over a value; records that contain themselves are found by their id."""
    if isinstance(type_, Record):
        return record_skippers.get(id(type_)) or _record_skipper(type_, record_skippers)
    if isinstance(type_, Union):
        return _branch_reader([_skipper(branch, record_skippers) for branch in type_.branches])
    if isinstance(type_, AvroArray | AvroMap):
        return _block_skipper(type_, record_skippers)
    # An int that nobody asks for may have 64 bits
    return Cursor.long if isinstance(type_, Primitive) and type_.kind == "int" else raw_reader(type_)


def _record_skipper(type_: Record, record_skippers: dict[int, Read]) -> Read:
    parts: list[Read] = []

    def skip(cursor: Cursor) -> None:
        for skip_part in parts:
            skip_part(cursor)

    record_skippers[id(type_)] = skip
    parts.extend(_skipper(field.type, record_skippers) for field in type_.fields)
    return skip


def _block_skipper(type_: AvroArray | AvroMap, record_skippers: dict[int, Read]) -> Read:
    is_map = isinstance(type_, AvroMap)
    item = type_.values if isinstance(type_, AvroMap) else type_.items
    skip_item, is_empty = _skipper(item, record_skippers), not is_map and can_be_empty(item)

    def skip(cursor: Cursor) -> None:
        while count := cursor.block(is_empty):
            for _ in range(count):
                if is_map:
                    cursor.sized_bytes()
                skip_item(cursor)

    return skip


def raw_reader(type_: Primitive | Fixed | AvroEnum) -> Read:
    """Return a reader of raw values, see ``reader.conversions``."""
    if isinstance(type_, Fixed):
        size = type_.size
        return lambda cursor: cursor.take(size, "a value")
    if isinstance(type_, AvroEnum):
        symbols, count = type_.symbols, len(type_.symbols)
        return lambda cursor: symbols[cursor.index(count, "symbol")]
    return _PRIMITIVE_READERS[type_.kind]


def _read_int(cursor: Cursor) -> int:
    number = cursor.long()
    if not INT_MIN <= number <= INT_MAX:
        raise MalformedMessageError(f"{number} is not an int: beyond 32 bits")
    return number


def _read_boolean(cursor: Cursor) -> bool:
    byte = cursor.take(1, "a boolean")[0]
    if byte > 1:
        raise MalformedMessageError(f"{byte:#04x} is not a boolean: neither 0 nor 1")
    return byte == 1


_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


def _read_float(cursor: Cursor) -> float:
    value: float = _FLOAT.unpack(cursor.take(4, "a float"))[0]
    return value


def _read_double(cursor: Cursor) -> float:
    value: float = _DOUBLE.unpack(cursor.take(8, "a double"))[0]
    return value


_PRIMITIVE_READERS: dict[str, Read] = {
    "null": lambda _: None,
    "boolean": _read_boolean,
    "int": _read_int,
    "long": Cursor.long,
    "float": _read_float,
    "double": _read_double,
    "bytes": Cursor.sized_bytes,
    "string": Cursor.sized_bytes,
}

_READERS: dict[type, Callable[[Any], Read]] = {
    SkipPlan: lambda plan: _skipper(plan.writer, {}),
    NullPlan: lambda _: _PRIMITIVE_READERS["null"],
    UnreadablePlan: _unreadable_reader,
    ScalarPlan: _scalar_reader,
    ListPlan: _list_reader,
    MapPlan: _map_reader,
    TextMapPlan: _text_map_reader,
    UnionPlan: _union_reader,
    RecordPlan: _record_reader,
}
