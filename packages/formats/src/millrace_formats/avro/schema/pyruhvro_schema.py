"""Rewrite schemas to the types that pyruhvro reads and writes exactly, with the same bytes.

- int becomes long, since pyruhvro cuts an int off to 32 bits without an error.
- bytes become string, which pyruhvro does not check to be UTF-8.
- fixed becomes a record of doubles and floats whose bits are the bytes.
- Records and enums get names of their own.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pyarrow as pa

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
    split_nullable,
)

_DOUBLE, _FLOAT = 8, 4
_ARROW = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int64(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "bytes": pa.string(),
}
FRAME_FIELDS = [{"name": "magic", "type": "boolean"}, {"name": "id", "type": "float"}]
"""A registry's frame as two leading fields: the magic byte, which is zero, and the four bytes of the schema's id."""


class UnsupportedByPyruhvroError(Exception):
    """A schema holds a type that pyruhvro does not read and write exactly."""


class _Rewriter:
    """Rewrite the schema of one kind of message."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._parents: set[int] = set()

    def rewrite(self, type_: AvroType) -> Any:
        """Return the rewritten schema of a type, ready for JSON.

        Raises:
            UnsupportedByPyruhvroError: There is none.
        """
        if isinstance(type_, Record):
            return self._record(type_)
        if isinstance(type_, Union):
            inner, null = split_nullable(type_)
            if null is None:
                raise UnsupportedByPyruhvroError("a union of several types")
            return [self.rewrite(inner), "null"] if null else ["null", self.rewrite(inner)]
        if isinstance(type_, AvroArray):
            if can_be_empty(type_.items):
                raise UnsupportedByPyruhvroError("an array of items that take no bytes")
            return {"type": "array", "items": self.rewrite(type_.items)}
        return (
            {"type": "map", "values": self.rewrite(type_.values)} if isinstance(type_, AvroMap) else self._leaf(type_)
        )

    def record(self, fields: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a record of some fields, with a name of its own."""
        return {"type": "record", "name": f"r{next(self._numbers)}", "fields": fields}

    def _record(self, type_: Record) -> dict[str, Any]:
        if not type_.fields:
            raise UnsupportedByPyruhvroError("a record without fields")
        if id(type_) in self._parents:
            raise UnsupportedByPyruhvroError("a record that contains itself")
        self._parents.add(id(type_))
        fields = [{"name": f"f{index}", "type": self.rewrite(field.type)} for index, field in enumerate(type_.fields)]
        self._parents.discard(id(type_))
        return self.record(fields)

    def _leaf(self, type_: Primitive | Fixed | AvroEnum) -> Any:
        if isinstance(type_, AvroEnum):
            return {"type": "enum", "name": f"e{next(self._numbers)}", "symbols": list(type_.symbols)}
        if isinstance(type_, Fixed):
            return self._fixed(type_.size)
        return {"int": "long", "bytes": "string"}.get(type_.kind, type_.kind)

    def _fixed(self, size: int) -> dict[str, Any]:
        if size % _FLOAT or not size:
            raise UnsupportedByPyruhvroError(f"fixed of {size} bytes, which are not a multiple of {_FLOAT}")
        parts = ["double"] * (size // _DOUBLE) + ["float"] * (size % _DOUBLE // _FLOAT)
        return self.record([{"name": f"f{index}", "type": part} for index, part in enumerate(parts)])


def message_schema(type_: AvroType, *, is_framed: bool) -> str:
    """Return the JSON of the record that pyruhvro reads and writes messages by.

    Args:
        type_: A record, or a union of a record and null, which becomes the only field ``value``.
        is_framed: Whether a registry's frame stands before the value.

    Raises:
        UnsupportedByPyruhvroError: The schema holds a type that pyruhvro does not read and write exactly.
    """
    schemas = _Rewriter()
    value = schemas.rewrite(type_)
    fields = value["fields"] if isinstance(type_, Record) else [{"name": "value", "type": value}]
    return json.dumps(schemas.record([*(FRAME_FIELDS if is_framed else []), *fields]))


def pyruhvro_type(type_: AvroType) -> pa.DataType:
    """Return the Arrow type of the arrays that pyruhvro writes a type from; null for a type that it does not write."""
    if isinstance(type_, Union):
        inner, null = split_nullable(type_)
        return pa.null() if null is None else pyruhvro_type(inner)
    if isinstance(type_, Record):
        return pa.struct([(f"f{index}", pyruhvro_type(field.type)) for index, field in enumerate(type_.fields)])
    if isinstance(type_, AvroArray):
        return pa.list_(pyruhvro_type(type_.items))
    if isinstance(type_, AvroMap):
        return pa.map_(pa.string(), pyruhvro_type(type_.values))
    if isinstance(type_, Fixed):
        parts = [pa.float64()] * (type_.size // _DOUBLE) + [pa.float32()] * (type_.size % _DOUBLE // _FLOAT)
        return pa.struct([(f"f{index}", part) for index, part in enumerate(parts)])
    return _ARROW[type_.kind] if isinstance(type_, Primitive) else pa.string()
