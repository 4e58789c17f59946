"""Parse Avro schemas from JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from millrace.errors import OptionsError
from millrace_formats.avro.schema.model import (
    DECIMAL_WITHOUT_SCALE,
    NO_DEFAULT,
    UNKNOWN_PRECISION,
    AvroArray,
    AvroEnum,
    AvroMap,
    AvroType,
    ConnectType,
    Fixed,
    LogicalType,
    Primitive,
    Record,
    RecordField,
    Union,
    branch_name,
    split_nullable,
)

_PRIMITIVES = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}

_LOGICAL = {
    "int": {"date", "time-millis"},
    "long": {
        "time-micros",
        "timestamp-millis",
        "timestamp-micros",
        "timestamp-nanos",
        "local-timestamp-millis",
        "local-timestamp-micros",
        "local-timestamp-nanos",
    },
    "bytes": {"decimal", "big-decimal"},
    "string": {"uuid"},
    "fixed": {"decimal", "duration", "uuid"},
}
"""Avro's logical types by their base type; others are ignored, as the specification demands."""

_CONNECT = {
    "io.debezium.time.Date": ("int", "date"),
    "io.debezium.time.Time": ("int", "time-millis"),
    "io.debezium.time.MicroTime": ("long", "time-micros"),
    "io.debezium.time.NanoTime": ("long", "time-nanos"),
    "io.debezium.time.Timestamp": ("long", "local-timestamp-millis"),
    "io.debezium.time.MicroTimestamp": ("long", "local-timestamp-micros"),
    "io.debezium.time.NanoTimestamp": ("long", "local-timestamp-nanos"),
    "org.apache.kafka.connect.data.Decimal": ("bytes", "decimal"),
}
"""Base and logical type by the name of Kafka Connect's schema, which may stand instead of a logical type.

See https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-temporal-types.
"""

_FIXED_SIZES = {"uuid": 16, "duration": 12}

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_DEPTH = 100
_MAX_SHOWN = 80

T = TypeVar("T", Fixed, AvroEnum, Record)


def parse_schema(text: str, references: Sequence[str] = ()) -> AvroType:
    """Parse a schema.

    Args:
        text: The schema as JSON.
        references: The schemas that define the names it refers to, each after those that it refers to itself.

    Raises:
        ValueError: The text is not an Avro schema; says why.
    """
    parser = _Parser()
    for reference in references:
        parser.parse(_load_json(reference), "", 0)
    return parser.parse(_load_json(text), "", 0)


def schema_option(format_name: str, text: str) -> AvroType:
    """Parse the schema of option ``schema``.

    Raises:
        OptionsError: The text is not an Avro schema, or not that of a record.
    """
    try:
        schema = parse_schema(text)
    except ValueError as error:
        raise OptionsError(format_name, (f"option 'schema' is not an Avro schema: {error}",)) from None
    if not isinstance(split_nullable(schema)[0], Record):
        raise OptionsError(format_name, ("option 'schema' must be the schema of a record, as rows are",))
    return schema


def is_name(text: str) -> bool:
    """Tell whether a text is a valid name of a field."""
    return _NAME.fullmatch(text) is not None


def _load_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        # Registries hand out the name of a primitive type without quotes
        if text.strip() in _PRIMITIVES:
            return text.strip()
        raise ValueError(f"it is not JSON: {error}") from None


class _Parser:
    """Parse the parts of one schema, and remember the named types that they define."""

    def __init__(self) -> None:
        self._named: dict[str, AvroType] = {}

    def parse(self, schema: Any, namespace: str, depth: int) -> AvroType:
        if depth > _MAX_DEPTH:
            raise ValueError(f"it is nested more than {_MAX_DEPTH} levels deep")
        if isinstance(schema, str):
            return Primitive(schema) if schema in _PRIMITIVES else self._lookup(schema, namespace)
        if isinstance(schema, list):
            return self._union(schema, namespace, depth)
        if not isinstance(schema, dict) or "type" not in schema:
            raise ValueError(f"{_shorten(schema)} is not a type")
        return self._parse_object(schema, namespace, depth)

    def _parse_object(self, schema: dict[str, Any], namespace: str, depth: int) -> AvroType:
        kind = schema["type"]
        if kind == "record" or kind == "error":
            return self._record(schema, namespace, depth)
        if kind == "enum":
            return self._enum(schema, namespace)
        if kind == "fixed":
            return self._fixed(schema, namespace)
        if kind == "array":
            return AvroArray(self.parse(_require(schema, "items"), namespace, depth + 1))
        if kind == "map":
            return AvroMap(self.parse(_require(schema, "values"), namespace, depth + 1))
        if isinstance(kind, str) and kind in _PRIMITIVES:
            return Primitive(kind, _logical_type(kind, schema), _connect_type(schema))
        return self.parse(kind, namespace, depth + 1)

    def _union(self, branches: list[Any], namespace: str, depth: int) -> Union:
        types = tuple(self.parse(branch, namespace, depth + 1) for branch in branches)
        names = [branch_name(type_) for type_ in types]
        if any(isinstance(type_, Union) for type_ in types) or len(set(names)) < len(names) or not names:
            raise ValueError(f"{_shorten(branches)} is not a union of different types")
        return Union(types)

    def _record(self, schema: dict[str, Any], namespace: str, depth: int) -> Record:
        name, namespace = _full_name(schema, namespace)
        record = Record(name)
        self._define(name, record)
        fields = _require(schema, "fields")
        if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
            raise ValueError(f"the fields of record {name} are {_shorten(fields)}, not a list of fields")
        record.fields.extend(self._field(field, namespace, depth) for field in fields)
        names = [field.name for field in record.fields]
        if len(set(names)) < len(names):
            raise ValueError(f"record {name} has two fields with the same name")
        return record

    def _field(self, schema: dict[str, Any], namespace: str, depth: int) -> RecordField:
        name, aliases = _require(schema, "name"), schema.get("aliases", [])
        if not isinstance(name, str) or not isinstance(aliases, list):
            raise ValueError(f"{_shorten(schema)} is not a field")  # noqa: TRY004 - the schema is wrong, not the program
        type_ = self.parse(_require(schema, "type"), namespace, depth + 1)
        return RecordField(name, type_, schema.get("default", NO_DEFAULT), tuple(map(str, aliases)))

    def _enum(self, schema: dict[str, Any], namespace: str) -> AvroEnum:
        name, _ = _full_name(schema, namespace)
        symbols, default = _require(schema, "symbols"), schema.get("default")
        if not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
            raise ValueError(f"the symbols of enum {name} are {_shorten(symbols)}, not a list of names")
        return self._define(name, AvroEnum(name, tuple(symbols), default if default in symbols else None))

    def _fixed(self, schema: dict[str, Any], namespace: str) -> Fixed:
        name, _ = _full_name(schema, namespace)
        size = _require(schema, "size")
        if not isinstance(size, int) or size < 0:
            raise ValueError(f"the size of fixed {name} is {_shorten(size)}, not a number of bytes")
        return self._define(name, Fixed(name, size, _logical_type("fixed", schema)))

    def _define(self, name: str, type_: T) -> T:
        if name in self._named or name in _PRIMITIVES:
            raise ValueError(f"the name {name} is defined twice")
        self._named[name] = type_
        return type_

    def _lookup(self, name: str, namespace: str) -> AvroType:
        full_name = name if "." in name or not namespace else f"{namespace}.{name}"
        type_ = self._named.get(full_name) or self._named.get(name)
        if type_ is None:
            raise ValueError(f"the type {full_name} is not defined")
        return type_


def _full_name(schema: dict[str, Any], namespace: str) -> tuple[str, str]:
    """Return the full name of a named type, and the namespace of the names within it."""
    name = _require(schema, "name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"{_shorten(name)} is not a name")
    if "." not in name:
        namespace = schema.get("namespace", namespace) or ""
        name = f"{namespace}.{name}" if namespace else name
    return name, name.rpartition(".")[0]


def _logical_type(kind: str, schema: dict[str, Any]) -> LogicalType | None:
    name = schema.get("logicalType")
    if name is None and schema.get("connect.name") in _CONNECT:
        base, name = _CONNECT[schema["connect.name"]]
        if base != kind or name != "decimal":
            return LogicalType(name) if base == kind else None
    if name not in _LOGICAL.get(kind, set()):
        return None
    if name == "decimal":
        return _decimal(schema)
    return None if kind == "fixed" and schema.get("size") != _FIXED_SIZES[name] else LogicalType(name)


def _connect_type(schema: dict[str, Any]) -> ConnectType | None:
    name, kind, parameters = (schema.get(f"connect.{key}") for key in ("name", "type", "parameters"))
    if name is None and kind is None:
        return None
    entries = parameters if isinstance(parameters, dict) else {}
    return ConnectType(
        name if isinstance(name, str) else None,
        kind if isinstance(kind, str) else None,
        {str(key): str(value) for key, value in entries.items()},
    )


def _decimal(schema: dict[str, Any]) -> LogicalType:
    """Return a decimal of the scale that the schema names, also below 0 or above the precision, where Avro has none.

    Oracle has numbers of either kind. To ignore the scale would move the point.
    """
    parameters = schema.get("connect.parameters")
    named = schema if "scale" in schema or not isinstance(parameters, dict) else parameters
    precision, scale = _integer(schema.get("precision")), _integer(named.get("scale", 0))
    if scale is None:
        return LogicalType(DECIMAL_WITHOUT_SCALE)
    is_known = precision is not None and precision > 0
    return LogicalType("decimal", max(precision or 0, scale) if is_known else UNKNOWN_PRECISION, scale)


def _integer(value: Any) -> int | None:
    try:
        return None if isinstance(value, bool | float) else int(value)
    except (TypeError, ValueError):
        return None


def _require(schema: dict[str, Any], name: str) -> Any:
    if name not in schema:
        raise ValueError(f"{_shorten(schema)} has no {name}")
    return schema[name]


def _shorten(schema: Any) -> str:
    text = json.dumps(schema)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
