"""JSON Schema (draft 2020-12) of the JSON values that are read as given types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from millrace_catalog.types.model import ArrayType, DataType, Kind, MapType, RowType

Path = tuple[str, ...]

_NUMBERS: dict[Kind, str] = {
    "TINYINT": "integer",
    "SMALLINT": "integer",
    "INT": "integer",
    "BIGINT": "integer",
    "DECIMAL": "number",
    "FLOAT": "number",
    "DOUBLE": "number",
    "BOOLEAN": "boolean",
}
_TEXTS: dict[Kind, dict[str, Any]] = {
    "DATE": {"format": "date"},
    "TIME": {"format": "time"},
    # JSON Schema's date-time is ISO-8601, which is only one of the two timestamp formats
    "TIMESTAMP": {},
    "TIMESTAMP_LTZ": {},
    "TIMESTAMP_TZ": {},
    "CHAR": {},
    "VARCHAR": {},
    "BINARY": {"contentEncoding": "base64"},
    "VARBINARY": {"contentEncoding": "base64"},
}


def to_json_schema(title: str, columns: Iterable[tuple[Path, DataType]]) -> dict[str, Any]:
    """Describe objects that hold columns at given paths; other fields are allowed.

    Args:
        title: Title of the JSON Schema.
        columns: Paths and types of the columns. A path that is a column and the parent of others may hold anything.
    """
    tree: dict[str, Any] = {}
    for path, type_ in columns:
        inner = tree
        for name in path[:-1]:
            inner = inner.setdefault(name, {}).setdefault("fields", {})
        inner.setdefault(path[-1], {})["type"] = type_
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": {name: _node(node) for name, node in tree.items()},
    }


def _node(node: dict[str, Any]) -> dict[str, Any]:
    if "fields" not in node:
        return _schema(node["type"])
    if "type" in node:
        return {}
    return {"type": ["object", "null"], "properties": {name: _node(inner) for name, inner in node["fields"].items()}}


def _schema(type_: DataType) -> dict[str, Any]:
    if isinstance(type_, ArrayType):
        return {"type": _or_null("array", type_.nullable), "items": _schema(type_.element)}
    if isinstance(type_, MapType):
        return {"type": _or_null("object", type_.nullable), "additionalProperties": _schema(type_.value)}
    if isinstance(type_, RowType):
        return _object(type_.types, is_nullable=type_.nullable)
    if type_.kind in _NUMBERS:
        return {"type": _or_null(_NUMBERS[type_.kind], type_.nullable)}
    if type_.kind in _TEXTS:
        return {"type": _or_null("string", type_.nullable), **_TEXTS[type_.kind]}
    return {}  # STRING keeps any value, as its JSON text


def _object(types: dict[str, DataType], *, is_nullable: bool) -> dict[str, Any]:
    return {
        "type": _or_null("object", is_nullable),
        "properties": {name: _schema(type_) for name, type_ in types.items()},
    }


def _or_null(name: str, is_nullable: bool) -> str | list[str]:
    return [name, "null"] if is_nullable else name
