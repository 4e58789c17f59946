"""Reads Avro's binary encoding one message at a time: slow, complete, and what the fast reader must equal.

Nothing is believed that the bytes say of themselves: a length must fit what is left of the message, a list of items
that take no bytes must be short, and what is nested deeper than Python can follow is an error. What follows the value
is ignored, as in the reference.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from millrace.errors import MalformedMessageError, MissingValueError
from millrace_formats.avro.expansion import BUDGET, width
from millrace_formats.avro.model import Array, AvroType, Enum, Fixed, Map, Record, Scalar, Union
from millrace_formats.avro.number_values import INT_HIGH, INT_LOW
from millrace_formats.avro.plan import Choice, Items, Null, Pairs, Plan, Rows, Skip, Texts, Unreadable, Value

MOST_EMPTY_ITEMS = 1_000_000
"""How many items that take no bytes a message may have, which its size does not bound."""

_SHORTEST_INT64 = -(1 << 63)
_MASK = (1 << 64) - 1
_LONGEST_NUMBER = 10

Read = Callable[["Cursor"], Any]


class Cursor:
    """A place in a message."""

    __slots__ = ("at", "data", "empty_items", "spent")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at
        self.empty_items = 0
        self.spent = 0

    def number(self) -> int:
        """The next whole number, 64 bits."""
        data, at = self.data, self.at
        bits = shift = 0
        try:
            while True:
                byte = data[at]
                at += 1
                bits |= (byte & 0x7F) << shift
                if byte < 0x80:
                    break
                shift += 7
                if shift >= 7 * _LONGEST_NUMBER:
                    raise MalformedMessageError("a number of more than 64 bits")
        except IndexError:
            raise MalformedMessageError("the message ends within a number") from None
        self.at = at
        bits &= _MASK
        return (bits >> 1) ^ -(bits & 1)

    def take(self, count: int, what: str) -> bytes:
        """The next so many bytes."""
        at = self.at
        left = len(self.data) - at
        if not 0 <= count <= left:
            raise MalformedMessageError(f"{what} of {count} bytes, but the message has {left} more")
        self.at = at + count
        return self.data[at : self.at]

    def octets(self) -> bytes:
        """The next bytes or string."""
        return self.take(self.number(), "a value")

    def index(self, count: int, what: str) -> int:
        """The next index of one of ``count`` choices."""
        index = self.number()
        if not 0 <= index < count:
            raise MalformedMessageError(f"{what} {index}, but there are {count}")
        return index

    def block(self, is_empty: bool, width: int = 0) -> int:
        """How many items the next block of a list or map has; 0 at its end.

        Args:
            is_empty: Whether an item may take no bytes.
            width: How many bytes an item takes as a column, at least.
        """
        while (count := self.number()) < 0:
            self.number()  # how many bytes it has, which nobody needs
            if count != _SHORTEST_INT64:
                return self._checked(-count, is_empty, width)
        return self._checked(count, is_empty, width)

    def _checked(self, count: int, is_empty: bool, width: int) -> int:
        left = len(self.data) - self.at
        if is_empty:
            self.empty_items += count
            if self.empty_items > MOST_EMPTY_ITEMS:
                raise MalformedMessageError(
                    f"a block of {count} items that take no bytes; at most {MOST_EMPTY_ITEMS} may"
                )
        elif count > left:
            raise MalformedMessageError(f"a block of {count} items, but the message has {left} bytes more")
        self.spent += count * width
        if self.spent > BUDGET:
            raise MalformedMessageError(f"its lists would take more than {BUDGET >> 20} MiB as columns")
        return count


def binary_reader(plan: Plan) -> Read:
    """A reader of the values that a plan gives: what ``pa.array`` takes, a row as a dict by column.

    It raises MalformedMessageError, or RecursionError for what is nested too deeply.
    """
    return _READERS[type(plan)](plan)


def _refuser(plan: Unreadable) -> Read:
    def refuse(_: Cursor) -> Any:
        raise MalformedMessageError(plan.reason)

    return refuse


def _value(plan: Value) -> Read:
    raw, convert = _raw(plan.writer), plan.conversion.one
    return lambda cursor: convert(raw(cursor))


def _rows(plan: Rows) -> Read:
    parts = [(binary_reader(part), column) for part, column in plan.parts]
    names = [field.name for field in plan.fields]
    needed = [not field.nullable for field in plan.fields]
    labels = [field.name for field in plan.writer.fields]
    empty: list[Any] = [plan.defaults.get(column) for column in range(len(names))]

    def read(cursor: Cursor) -> dict[str, Any]:
        values = empty.copy()
        for (part, column), label in zip(parts, labels, strict=True):
            try:
                value = part(cursor)
            except MalformedMessageError as error:
                raise error.within(label) from None
            if column is not None:
                if value is None and needed[column]:
                    raise MissingValueError(names[column])
                values[column] = value
        return dict(zip(names, values, strict=True))

    return read


def _items(plan: Items) -> Read:
    item, needed, is_empty = binary_reader(plan.item), not plan.field.nullable, may_be_empty(plan.writer.items)
    bytes_each = width(plan.field.type)

    def read(cursor: Cursor) -> list[Any]:
        items: list[Any] = []
        try:
            while count := cursor.block(is_empty, bytes_each):
                for _ in range(count):
                    value = item(cursor)
                    if value is None and needed:
                        raise MissingValueError("")
                    items.append(value)
        except MalformedMessageError as error:
            raise error.within(f"[{len(items)}]") from None
        return items

    return read


def _pairs(plan: Pairs) -> Read:
    value_of, needed = binary_reader(plan.value), not plan.field.nullable
    bytes_each = width(plan.field.type)

    def read(cursor: Cursor) -> list[tuple[str, Any]]:
        pairs: dict[str, Any] = {}
        while count := cursor.block(False, bytes_each):
            for _ in range(count):
                key = _text(cursor.octets())
                try:
                    value = value_of(cursor)
                    if value is None and needed:
                        raise MissingValueError("")
                except MalformedMessageError as error:
                    raise error.within(f'["{key}"]') from None
                pairs[key] = value
        return list(pairs.items())

    return read


def _texts(plan: Texts) -> Read:
    parts = [(field.name, binary_reader(part)) for field, part in zip(plan.writer.fields, plan.parts, strict=True)]
    wanted = {
        field.name for field, part in zip(plan.writer.fields, plan.parts, strict=True) if not isinstance(part, Skip)
    }

    def read(cursor: Cursor) -> list[tuple[str, str | None]]:
        pairs = []
        for name, part in parts:
            try:
                value = part(cursor)
            except MalformedMessageError as error:
                raise error.within(name) from None
            if name in wanted:
                pairs.append((name, value))
        return pairs

    return read


def _choice(plan: Choice) -> Read:
    return _branches([binary_reader(branch) for branch in plan.branches])


def _branches(branches: list[Read]) -> Read:
    count = len(branches)
    return lambda cursor: branches[cursor.index(count, "branch of a union")](cursor)


def _text(octets: bytes) -> str:
    try:
        return octets.decode()
    except UnicodeDecodeError:
        raise MalformedMessageError("a key that is not UTF-8") from None


def _skipper(writer: AvroType, known: dict[int, Read]) -> Read:
    """Passes over a value of a type, which may hold itself."""
    if isinstance(writer, Record):
        return known[id(writer)] if id(writer) in known else _record_skipper(writer, known)
    if isinstance(writer, Union):
        return _branches([_skipper(branch, known) for branch in writer.branches])
    if isinstance(writer, Array | Map):
        return _block_skipper(writer, known)
    return _raw_number(writer) if isinstance(writer, Scalar) and writer.kind == "int" else _raw(writer)


def _record_skipper(writer: Record, known: dict[int, Read]) -> Read:
    parts: list[Read] = []

    def skip(cursor: Cursor) -> None:
        for part in parts:
            part(cursor)

    known[id(writer)] = skip
    parts.extend(_skipper(field.type, known) for field in writer.fields)
    return skip


def _block_skipper(writer: Array | Map, known: dict[int, Read]) -> Read:
    is_map = isinstance(writer, Map)
    inner = writer.values if isinstance(writer, Map) else writer.items
    part, is_empty = _skipper(inner, known), not is_map and may_be_empty(inner)

    def skip(cursor: Cursor) -> None:
        while count := cursor.block(is_empty):
            for _ in range(count):
                if is_map:
                    cursor.octets()
                part(cursor)

    return skip


def _raw(writer: Scalar | Fixed | Enum) -> Read:
    """Reads what the bytes of a type are, whatever they mean."""
    if isinstance(writer, Fixed):
        size = writer.size
        return lambda cursor: cursor.take(size, "a value")
    if isinstance(writer, Enum):
        symbols, count = writer.symbols, len(writer.symbols)
        return lambda cursor: symbols[cursor.index(count, "symbol")]
    return _RAW[writer.kind]


def _raw_number(_: Scalar) -> Read:
    return Cursor.number


def _int(cursor: Cursor) -> int:
    number = cursor.number()
    if not INT_LOW <= number <= INT_HIGH:
        raise MalformedMessageError(f"{number} is not an int: beyond 32 bits")
    return number


def _boolean(cursor: Cursor) -> bool:
    byte = cursor.take(1, "a boolean")[0]
    if byte > 1:
        raise MalformedMessageError(f"{byte:#04x} is not a boolean: neither 0 nor 1")
    return byte == 1


_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


def _float(cursor: Cursor) -> float:
    value: float = _FLOAT.unpack(cursor.take(4, "a float"))[0]
    return value


def _double(cursor: Cursor) -> float:
    value: float = _DOUBLE.unpack(cursor.take(8, "a double"))[0]
    return value


_RAW: dict[str, Read] = {
    "null": lambda _: None,
    "boolean": _boolean,
    "int": _int,
    "long": Cursor.number,
    "float": _float,
    "double": _double,
    "bytes": Cursor.octets,
    "string": Cursor.octets,
}


_READERS: dict[type, Callable[[Any], Read]] = {
    Skip: lambda plan: _skipper(plan.writer, {}),
    Null: lambda _: _RAW["null"],
    Unreadable: _refuser,
    Value: _value,
    Items: _items,
    Pairs: _pairs,
    Texts: _texts,
    Choice: _choice,
    Rows: _rows,
}


def may_be_empty(type_: AvroType, within: frozenset[int] = frozenset()) -> bool:
    """Whether a value of a type may take no bytes at all."""
    if isinstance(type_, Record):
        inner = within | {id(type_)}
        return all(id(field.type) not in inner and may_be_empty(field.type, inner) for field in type_.fields)
    if isinstance(type_, Fixed):
        return type_.size == 0
    return isinstance(type_, Scalar) and type_.kind == "null"
