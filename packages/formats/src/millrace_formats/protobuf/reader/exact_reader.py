"""Read messages with protobuf's own library, field by field: slow and complete. ptars gives the same rows."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from millrace.errors import MalformedMessageError, MissingValueError
from millrace_formats.protobuf.message_methods import has_field
from millrace_formats.protobuf.reader.parser import MessageParser
from millrace_formats.protobuf.schema.fields import (
    EnumValue,
    Instant,
    MapValue,
    MessageField,
    RepeatedValue,
    ScalarValue,
    Single,
    Struct,
    Value,
    Wrapped,
)
from millrace_formats.protobuf.schema.values import UNRECOGNIZED, microseconds, names_by_number
from millrace_formats.shared.field_conversion import convert_elements

Read = Callable[[Any], Any]


class ProtobufExactReader:
    """Read one message at a time, by these rules (those of Flink's ``ProtoToRowConverter``).

    - A field that a message lacks is NULL where it has presence, and else its default. A repeated field without
      elements is NULL, unless its column is NOT NULL. With read-default-values all of these are defaults.
    - Of a oneof only the member that is set is not NULL.
    - An enum's number that has no name is UNRECOGNIZED in a STRING column. With a closed enum, as in proto2, the
      message lacks such a value.
    - An unsigned number in a column of as many bits keeps its bits, so that large ones are negative.
    - Bytes in a string field of proto2 that are not UTF-8 become U+FFFD; in proto3 they are an error.
    - A Timestamp is cut to microseconds; one outside the years 0001 to 9999 is an error.
    - A NULL in a NOT NULL column is an error, also when parse errors are ignored.
    - A null payload gives no row; an empty one is a message that lacks everything.

    Args:
        parser: Parses messages.
        row: The columns.
        ignore_errors: Whether a message that cannot be decoded gives no row instead of an error.
    """

    def __init__(self, parser: MessageParser, row: Struct, ignore_errors: bool) -> None:
        self._parse = parser.parse
        self._ignore_errors = ignore_errors
        self._fields = [_field_reader(field) for field in row.fields]

    def read(self, payload: bytes | None) -> tuple[Any, ...] | None:
        """Read the values of a message's columns; None when it gives no row."""
        if payload is None:
            return None
        try:
            message = self._parse(payload)
            return tuple([read(message) for read in self._fields])
        except MissingValueError:
            raise
        except MalformedMessageError:
            if self._ignore_errors:
                return None
            raise


def _field_reader(field: MessageField) -> Read:
    name, convert, is_absent = field.name, _reader(field.value), _null_check(field)

    def read(message: Any) -> Any:
        if is_absent(message):
            if not field.nullable:
                raise MissingValueError(name)
            return None
        try:
            return convert(getattr(message, name))
        except MalformedMessageError as error:
            raise error.within(name) from None

    return read


def _null_check(field: MessageField) -> Callable[[Any], bool]:
    """Return a function that says whether a message's field is read as NULL."""
    if field.reads_default:
        return lambda _: False
    name = field.name
    if field.proto.is_repeated:
        return lambda message: not getattr(message, name)
    return lambda message: not has_field(message, name)


def _reader(value: Value) -> Read:
    match value:
        case RepeatedValue(element):
            return _array_reader(_reader(element))
        case MapValue(key, item):
            return _map_reader(_scalar_reader(key), _reader(item))
        case _:
            return _single_reader(value)


def _single_reader(value: Single) -> Read:
    match value:
        case ScalarValue():
            return _scalar_reader(value)
        case EnumValue():
            return _enum_reader(value)
        case Wrapped(inner):
            convert = _scalar_reader(inner)
            return lambda wrapper: convert(wrapper.value)
        case Instant():
            return _instant
        case Struct(_, fields):
            readers = [(field.name, _field_reader(field)) for field in fields]
            return lambda message: {name: read(message) for name, read in readers}


def _array_reader(element: Read) -> Read:
    def read(values: Any) -> list[Any]:
        return convert_elements(element, values)

    return read


def _map_reader(key: Read, item: Read) -> Read:
    def read(values: Any) -> list[tuple[Any, Any]]:
        try:
            entries = sorted(((key(name), value) for name, value in values.items()), key=itemgetter(0))
        except UnicodeDecodeError:
            raise MalformedMessageError("a key is not UTF-8") from None
        result = []
        for name, value in entries:
            try:
                result.append((name, item(value)))
            except MalformedMessageError as error:
                raise error.within(f"[{name!r}]") from None
        return result

    return read


def _scalar_reader(value: ScalarValue) -> Read:
    if value.type == pa.string():
        # protobuf returns text that is not UTF-8 as bytes
        return lambda text: text if isinstance(text, str) else text.decode("utf-8", "replace")
    if pt.is_decimal(value.type):
        return Decimal
    if pt.is_integer(value.type):
        bits = value.type.bit_width
        return lambda number: number - (1 << bits) if number >> bits - 1 > 0 else number
    return lambda read: read


def _enum_reader(value: EnumValue) -> Read:
    if value.type != pa.string():
        return int
    names = names_by_number(value.proto.enum_type)
    return lambda number: names.get(number, UNRECOGNIZED)


def _instant(timestamp: Any) -> int:
    try:
        return microseconds(timestamp.seconds, timestamp.nanos)
    except ValueError as error:
        raise MalformedMessageError(f"a timestamp {error}") from None
