"""Writes Avro schemas as JSON, with the parts in the order of Avro's own library."""

from __future__ import annotations

import json
from typing import Any

from millrace_formats.avro.model import (
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Logical,
    Map,
    Record,
    Union,
    type_name,
)


def render_schema(type_: AvroType) -> str:
    """The JSON of a schema that was derived from columns."""
    return json.dumps(_render(type_, ""), separators=(",", ":"))


def _render(type_: AvroType, namespace: str) -> Any:
    if isinstance(type_, Record):
        own, _, name = type_.name.rpartition(".")
        head = {"type": "record", "name": name, **({"namespace": own} if own != namespace else {})}
        return {**head, "fields": [_field(field, own) for field in type_.fields]}
    if isinstance(type_, Union):
        return [_render(branch, namespace) for branch in type_.branches]
    if isinstance(type_, Array):
        return {"type": "array", "items": _render(type_.items, namespace)}
    if isinstance(type_, Map):
        return {"type": "map", "values": _render(type_.values, namespace)}
    if isinstance(type_, Enum | Fixed):
        raise AssertionError(f"no column is {type_name(type_)}")  # noqa: TRY004 - a mistake of ours
    return {"type": type_.kind, **_logical(type_.logical)} if type_.logical else type_.kind


def _field(field: Field, namespace: str) -> dict[str, Any]:
    default = {"default": field.default} if field.has_default else {}
    return {"name": field.name, "type": _render(field.type, namespace), **default}


def _logical(logical: Logical | None) -> dict[str, Any]:
    if logical is None:
        return {}
    sizes = {"precision": logical.precision, "scale": logical.scale} if logical.name == "decimal" else {}
    return {"logicalType": logical.name, **sizes}
