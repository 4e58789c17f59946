"""Columns of a JSON Schema, and how a column is read from messages of a schema.

The types are those of Confluent's JSON Schema converter: ``connect.type`` names the width of a number, and titles of
Kafka Connect's logical types a date, time, timestamp or decimal that is written as a number. Without them an integer is
BIGINT, a number DOUBLE, and ``format`` and ``contentEncoding`` tell dates, times and bytes from other text.
See https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/serdes-json.html.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from millrace_formats.json.registry.schemas import JsonSchema
from millrace_formats.shared.sql_types import is_instant

_MAX_DEPTH = 50
_CONNECT = "org.apache.kafka.connect.data."
_PRECISION, _SCALE = 38, 0

_INTEGERS = {"int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64()}
_FLOATS = {"float32": pa.float32(), "float64": pa.float64()}
LOGICAL_NUMBERS = {
    f"{_CONNECT}Date": (pa.int32(), pa.date32()),
    f"{_CONNECT}Time": (pa.int32(), pa.time64("us")),
    f"{_CONNECT}Timestamp": (pa.int64(), pa.timestamp("us", "UTC")),
}
"""Kafka Connect's logical types that JSON has as numbers: the number's type, and the column's."""

_FORMATS = {
    "date": pa.date32(),
    "time": pa.time64("us"),
    "date-time": pa.timestamp("us", "UTC"),
    "local-date-time": pa.timestamp("us"),
}


class _Node(NamedTuple):
    """A schema within a document, with what it refers to or combines put together."""

    schema: Mapping[str, Any]
    base: str


def columns_of(schema: JsonSchema) -> pa.Schema | None:
    """Return a column for each property; None when the schema is not an object's, or contains itself.

    All may be NULL, since messages of other versions, or of another alternative, may lack them.

    Raises:
        ValueError: A property is of several types in the alternatives of ``oneOf`` or ``anyOf``.
    """
    types: dict[str, pa.DataType] = {}
    try:
        for node in _alternatives(schema, schema.root, ""):
            for name, inner in _properties(schema, node):
                type_ = _type(schema, inner, 0)
                if types.setdefault(name, type_) != type_:
                    raise ValueError(f"property {name!r} is of several types in its alternatives")
    except RecursionError:
        return None
    return pa.schema(list(types.items())) if types else None


def numbers_in(schema: JsonSchema, columns: pa.Schema) -> dict[str, pa.DataType]:
    """Return the columns that messages of a schema have as numbers of Kafka Connect, with the numbers' types."""
    properties: dict[str, _Node] = {}
    try:
        for node in _alternatives(schema, schema.root, ""):
            properties = {**dict(_properties(schema, node)), **properties}
    except (RecursionError, ValueError):
        return {}
    numbers = {}
    for column in columns:
        inner = properties.get(column.name, _Node({}, ""))
        number, logical = LOGICAL_NUMBERS.get(_title(inner), (None, None))
        if number is not None and _is_same_time(column.type, logical) and "string" not in _types(inner):
            numbers[column.name] = number
    return numbers


def _is_same_time(type_: pa.DataType, logical: pa.DataType) -> bool:
    """Return whether a column is of a logical type, whatever its time zone and unit."""
    return type_.id == logical.id and (is_instant(type_) or not is_instant(logical))


def _alternatives(schema: JsonSchema, part: Any, base: str, depth: int = 0) -> list[_Node]:
    """Return the schemas of messages, several where ``oneOf`` or ``anyOf`` lists several."""
    if depth > _MAX_DEPTH:
        raise RecursionError
    if isinstance(part, dict) and isinstance(part.get("$ref"), str):
        target, document = schema.resolve(part["$ref"], base)
        return _alternatives(schema, target, document, depth + 1)
    for name in ("oneOf", "anyOf"):
        branches = [branch for branch in _list(_dict(part).get(name)) if not _is_null(branch)]
        if len(branches) > 1:
            rest = _without(part, name)
            parts = ({**rest, "allOf": [*_list(rest.get("allOf")), branch]} for branch in branches)
            return [node for one in parts for node in _alternatives(schema, one, base, depth + 1)]
    return [_node(schema, part, base, depth)]


def _node(schema: JsonSchema, part: Any, base: str, depth: int = 0) -> _Node:
    """Follow references, choose the one branch that is not null, and join what ``allOf`` lists."""
    if depth > _MAX_DEPTH:
        raise RecursionError
    if not isinstance(part, dict):
        return _Node({}, base)
    if isinstance(part.get("$ref"), str):
        target, document = schema.resolve(part["$ref"], base)
        return _node(schema, target, document, depth + 1)
    for name in ("oneOf", "anyOf"):
        branches = [branch for branch in _list(part.get(name)) if not _is_null(branch)]
        if len(branches) == 1:
            return _node(schema, {**_without(part, name), **branches[0]}, base, depth + 1)
        if branches:
            return _Node({}, base)
    if _list(part.get("allOf")):
        return _joined(schema, part, base, depth)
    return _Node(part, base)


def _joined(schema: JsonSchema, part: dict[str, Any], base: str, depth: int) -> _Node:
    """Join what ``allOf`` lists: the properties of all, and the keywords of the first that has them."""
    joined = _without(part, "allOf")
    for subschema in part["allOf"]:
        inner = _node(schema, subschema, base, depth + 1)
        # Nested references are those of the document that has the properties
        base = inner.base if "properties" in inner.schema else base
        properties = {**_dict(joined.get("properties")), **_dict(inner.schema.get("properties"))}
        joined = {**inner.schema, **joined, **({"properties": properties} if properties else {})}
    return _Node(joined, base)


def _properties(schema: JsonSchema, node: _Node) -> Iterator[tuple[str, _Node]]:
    properties = _dict(node.schema.get("properties"))

    def place(name: str) -> float:
        # Kafka Connect keeps the order of fields
        index = properties[name].get("connect.index") if isinstance(properties[name], dict) else None
        return index if isinstance(index, int) else float("inf")

    for name in sorted(properties, key=place):
        inner = _node(schema, properties[name], node.base)
        own = properties[name] if isinstance(properties[name], dict) else {}
        titled = {key: own[key] for key in ("title", "connect.type", "connect.parameters") if key in own}
        yield name, _Node({**titled, **inner.schema}, inner.base)


def _type(schema: JsonSchema, node: _Node, depth: int) -> pa.DataType:
    if depth > _MAX_DEPTH:
        raise RecursionError
    types = _types(node)
    if len(types) != 1:
        return pa.string()
    (kind,) = types
    if kind == "object":
        return _object_type(schema, node, depth)
    if kind == "array":
        items = node.schema.get("items")
        inner = _type(schema, _node(schema, items, node.base), depth + 1) if isinstance(items, dict) else pa.string()
        return pa.list_(pa.field("element", inner))
    return _scalar_type(kind, node)


def _object_type(schema: JsonSchema, node: _Node, depth: int) -> pa.DataType:
    fields = [pa.field(name, _type(schema, inner, depth + 1)) for name, inner in _properties(schema, node)]
    if fields:
        return pa.struct(fields)
    values = node.schema.get("additionalProperties")
    if isinstance(values, dict):
        return pa.map_(pa.string(), _type(schema, _node(schema, values, node.base), depth + 1))
    # Any object: STRING holds its JSON
    return pa.string()


def _scalar_type(kind: str, node: _Node) -> pa.DataType:
    connect, title = node.schema.get("connect.type"), _title(node)
    if kind == "boolean":
        return pa.bool_()
    if kind == "string":
        is_bytes = connect == "bytes" or node.schema.get("contentEncoding") == "base64"
        return pa.binary() if is_bytes else _FORMATS.get(str(node.schema.get("format")), pa.string())
    if title in LOGICAL_NUMBERS:
        return LOGICAL_NUMBERS[title][1]
    if title == f"{_CONNECT}Decimal":
        return _decimal_type(_dict(node.schema.get("connect.parameters")))
    if kind == "integer" or connect in _INTEGERS:
        return _INTEGERS.get(str(connect), pa.int64())
    return _FLOATS.get(str(connect), pa.float64())


def _decimal_type(parameters: Mapping[str, Any]) -> pa.DataType:
    try:
        precision = int(parameters.get("connect.decimal.precision", _PRECISION))
        return pa.decimal128(precision, int(parameters.get("scale", _SCALE)))
    except (ValueError, TypeError):
        return pa.string()


def _types(node: _Node) -> set[str]:
    """Return the JSON types of values that are not null."""
    declared = node.schema.get("type")
    types = {name for name in (declared if isinstance(declared, list) else [declared]) if isinstance(name, str)}
    if not types:
        if "properties" in node.schema:
            return {"object"}
        values = [node.schema["const"]] if "const" in node.schema else _list(node.schema.get("enum"))
        types = {_JSON_TYPES[type(value)] for value in values if type(value) in _JSON_TYPES}
    return types - {"null"}


_JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def _title(node: _Node) -> str:
    return str(node.schema.get("title", ""))


def _is_null(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "null"


def _without(part: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != name}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
