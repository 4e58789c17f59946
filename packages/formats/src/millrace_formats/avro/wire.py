"""The schemas that the fast reader and writer are given: the same bytes, in the few types that they get right.

Whole numbers are long, since int is cut off to 32 bits unseen. Bytes and strings are string, which is not checked to be
text. Fixed is a record of doubles and floats, whose bits are the bytes. Every record has a name of its own.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pyarrow as pa

from millrace_formats.avro.binary_reader import may_be_empty
from millrace_formats.avro.model import Array, AvroType, Enum, Fixed, Map, Record, Scalar, Union, split_nullable

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
FRAME = [{"name": "magic", "type": "boolean"}, {"name": "id", "type": "float"}]
"""The registry's frame as two fields before all others: a zero byte, and the four bytes of the schema's id."""


class NotFastError(Exception):
    """A schema holds what the fast reader and writer do not have; says what."""


class WireSchemas:
    """Makes the schema of one message."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._within: set[int] = set()

    def of(self, type_: AvroType) -> Any:
        """The schema of a type, for JSON.

        Raises:
            NotFastError: There is none.
        """
        if isinstance(type_, Record):
            return self._record(type_)
        if isinstance(type_, Union):
            inner, null = split_nullable(type_)
            if null is None:
                raise NotFastError("a union of several types")
            return [self.of(inner), "null"] if null else ["null", self.of(inner)]
        if isinstance(type_, Array):
            if may_be_empty(type_.items):
                raise NotFastError("an array of items that take no bytes")
            return {"type": "array", "items": self.of(type_.items)}
        return {"type": "map", "values": self.of(type_.values)} if isinstance(type_, Map) else self._leaf(type_)

    def record(self, fields: list[dict[str, Any]]) -> dict[str, Any]:
        """A record with a name of its own."""
        return {"type": "record", "name": f"r{next(self._numbers)}", "fields": fields}

    def _record(self, type_: Record) -> dict[str, Any]:
        if not type_.fields:
            raise NotFastError("a record without fields")
        if id(type_) in self._within:
            raise NotFastError("a record that holds itself")
        self._within.add(id(type_))
        fields = [{"name": f"f{index}", "type": self.of(field.type)} for index, field in enumerate(type_.fields)]
        self._within.discard(id(type_))
        return self.record(fields)

    def _leaf(self, type_: Scalar | Fixed | Enum) -> Any:
        if isinstance(type_, Enum):
            return {"type": "enum", "name": f"e{next(self._numbers)}", "symbols": list(type_.symbols)}
        if isinstance(type_, Fixed):
            return self._fixed(type_.size)
        return {"int": "long", "bytes": "string"}.get(type_.kind, type_.kind)

    def _fixed(self, size: int) -> dict[str, Any]:
        if size % _FLOAT or not size:
            raise NotFastError(f"fixed of {size} bytes, which are not a multiple of {_FLOAT}")
        parts = ["double"] * (size // _DOUBLE) + ["float"] * (size % _DOUBLE // _FLOAT)
        return self.record([{"name": f"f{index}", "type": part} for index, part in enumerate(parts)])


def wire_type(type_: AvroType) -> pa.DataType:
    """The Arrow type of the arrays that the fast writer is given for a type; null for what it does not take."""
    if isinstance(type_, Union):
        inner, null = split_nullable(type_)
        return pa.null() if null is None else wire_type(inner)
    if isinstance(type_, Record):
        return pa.struct([(f"f{index}", wire_type(field.type)) for index, field in enumerate(type_.fields)])
    if isinstance(type_, Array):
        return pa.list_(wire_type(type_.items))
    if isinstance(type_, Map):
        return pa.map_(pa.string(), wire_type(type_.values))
    if isinstance(type_, Fixed):
        parts = [pa.float64()] * (type_.size // _DOUBLE) + [pa.float32()] * (type_.size % _DOUBLE // _FLOAT)
        return pa.struct([(f"f{index}", part) for index, part in enumerate(parts)])
    return _ARROW[type_.kind] if isinstance(type_, Scalar) else pa.string()


def wire_text(schema: Any) -> str:
    """The JSON of a schema."""
    return json.dumps(schema)
