"""Read Avro's binary encoding as what Kafka Connect's JSON converter makes of the same values."""

from __future__ import annotations

import base64
import math
from typing import Any

from millrace.errors import MalformedMessageError
from millrace_formats.avro.reader.conversions import decode_text
from millrace_formats.avro.reader.datum_reader import Cursor, Read, raw_reader
from millrace_formats.avro.schema.model import (
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

_NOT_FINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


def connect_reader(type_: AvroType) -> Read:
    """Return a reader of the values of a type: bytes as base64, numbers that JSON lacks as texts.

    It raises MalformedMessageError for bytes that are no such value, and RecursionError for one that is nested deeply.
    """
    return _reader(type_, {})


def _reader(type_: AvroType, records: dict[int, Read]) -> Read:
    if isinstance(type_, Record):
        return _record_reader(type_, records)
    if isinstance(type_, Union):
        branches = [_reader(branch, records) for branch in type_.branches]
        count = len(branches)
        return lambda cursor: branches[cursor.index(count, "union branch")](cursor)
    if isinstance(type_, AvroArray):
        return _list_reader(type_, records)
    if isinstance(type_, AvroMap):
        return _map_reader(type_, records)
    return _scalar_reader(type_)


def _record_reader(type_: Record, records: dict[int, Read]) -> Read:
    if id(type_) in records:
        return records[id(type_)]
    parts: list[tuple[str, Read]] = []

    def read(cursor: Cursor) -> dict[str, Any]:
        values = {}
        name = ""
        try:
            for name, read_part in parts:
                values[name] = read_part(cursor)
        except MalformedMessageError as error:
            raise error.within(name) from None
        return values

    # A record may contain itself
    records[id(type_)] = read
    parts += [(field.name, _reader(field.type, records)) for field in type_.fields]
    return read


def _list_reader(type_: AvroArray, records: dict[int, Read]) -> Read:
    item, is_empty = _reader(type_.items, records), can_be_empty(type_.items)

    def read(cursor: Cursor) -> list[Any]:
        items: list[Any] = []
        while count := cursor.block(is_empty):
            items += [item(cursor) for _ in range(count)]
        return items

    return read


def _map_reader(type_: AvroMap, records: dict[int, Read]) -> Read:
    value = _reader(type_.values, records)

    def read(cursor: Cursor) -> dict[str, Any]:
        entries = {}
        while count := cursor.block(is_empty=False):
            for _ in range(count):
                key = decode_text(cursor.sized_bytes())
                entries[key] = value(cursor)
        return entries

    return read


def _scalar_reader(type_: Primitive | Fixed | AvroEnum) -> Read:
    read = raw_reader(type_)
    kind = type_.kind if isinstance(type_, Primitive) else "bytes" if isinstance(type_, Fixed) else "enum"
    if kind == "string":
        return lambda cursor: decode_text(read(cursor))
    if kind == "bytes":
        return lambda cursor: base64.b64encode(read(cursor)).decode()
    if kind in ("float", "double"):
        return lambda cursor: _to_number(read(cursor))
    return read


def _to_number(value: float) -> float | str:
    return value if math.isfinite(value) else _NOT_FINITE.get(value, "NaN")
