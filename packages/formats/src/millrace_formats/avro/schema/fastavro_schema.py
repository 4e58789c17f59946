"""Rewrite schemas for fastavro's writer: the same bytes, without logical types, by names that are always valid."""

from __future__ import annotations

import itertools
from typing import Any

from millrace_formats.avro.schema.model import AvroArray, AvroEnum, AvroMap, AvroType, Fixed, Record, Union


def fastavro_schema(type_: AvroType) -> tuple[Any, dict[str, Any]]:
    """Return the rewritten schema of a type, and those of the named types in it by their names."""
    rewriter = _SchemaRewriter()
    return rewriter.rewrite(type_), rewriter.named


def type_name(schema: Any) -> str:
    """Return the name of a rewritten type, by which fastavro takes the branch of a union."""
    return schema if isinstance(schema, str) else schema.get("name", schema["type"])


class _SchemaRewriter:
    def __init__(self) -> None:
        self.named: dict[str, Any] = {}
        self._numbers = itertools.count()
        self._parents: dict[int, str] = {}

    def rewrite(self, type_: AvroType) -> Any:
        if isinstance(type_, Record):
            return self._parents.get(id(type_)) or self._record(type_)
        if isinstance(type_, Union):
            return [self.rewrite(branch) for branch in type_.branches]
        if isinstance(type_, AvroArray):
            return {"type": "array", "items": self.rewrite(type_.items)}
        if isinstance(type_, AvroMap):
            return {"type": "map", "values": self.rewrite(type_.values)}
        if isinstance(type_, AvroEnum):
            return {"type": "enum", "name": self._name(), "symbols": list(type_.symbols)}
        if isinstance(type_, Fixed):
            return {"type": "fixed", "name": self._name(), "size": type_.size}
        return type_.kind

    def _record(self, type_: Record) -> dict[str, Any]:
        name = self._parents[id(type_)] = self._name()
        schema: dict[str, Any] = {"type": "record", "name": name, "fields": []}
        self.named[name] = schema
        types = (self.rewrite(field.type) for field in type_.fields)
        schema["fields"].extend({"name": f"f{index}", "type": rewritten} for index, rewritten in enumerate(types))
        del self._parents[id(type_)]
        return schema

    def _name(self) -> str:
        return f"t{next(self._numbers)}"
