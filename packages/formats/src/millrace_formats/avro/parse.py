"""Reads Avro schemas from their JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from millrace_formats.avro.model import (
    NO_DEFAULT,
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Logical,
    Map,
    Record,
    Scalar,
    Union,
    branch_name,
)

_SCALARS = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}

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
"""Avro's logical types by the types that they stand on; others mean nothing, as Avro has it."""

_CONNECT = {
    "io.debezium.time.Date": ("int", "date"),
    "io.debezium.time.Time": ("int", "time-millis"),
    "io.debezium.time.MicroTime": ("long", "time-micros"),
    "io.debezium.time.NanoTime": ("long", "time-nanos"),
    "io.debezium.time.Timestamp": ("long", "local-timestamp-millis"),
    "io.debezium.time.MicroTimestamp": ("long", "local-timestamp-micros"),
    "io.debezium.time.NanoTimestamp": ("long", "local-timestamp-nanos"),
}
"""What Debezium writes for Avro's logical types: a name of Kafka Connect's instead."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEEPEST = 100

T = TypeVar("T", Fixed, Enum, Record)


def parse_schema(text: str, references: Sequence[str] = ()) -> AvroType:
    """The tree of a schema.

    Args:
        text: The schema as JSON.
        references: The schemas that define what it refers to, each after those that it refers to itself.

    Raises:
        ValueError: It is no Avro schema; says why.
    """
    parser = _Parser()
    for reference in references:
        parser.parse(_json(reference), "", 0)
    return parser.parse(_json(text), "", 0)


def is_name(text: str) -> bool:
    """Whether a text can be the name of a field."""
    return _NAME.fullmatch(text) is not None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        # A schema that is a type's name alone may come without quotes
        if text.strip() in _SCALARS:
            return text.strip()
        raise ValueError(f"it is not JSON: {error}") from None


class _Parser:
    def __init__(self) -> None:
        self._named: dict[str, AvroType] = {}

    def parse(self, schema: Any, namespace: str, depth: int) -> AvroType:
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
        if isinstance(schema, str):
            return Scalar(schema) if schema in _SCALARS else self._known(schema, namespace)
        if isinstance(schema, list):
            return self._union(schema, namespace, depth)
        if not isinstance(schema, dict) or "type" not in schema:
            raise ValueError(f"{_shown(schema)} is no type")
        return self._typed(schema, namespace, depth)

    def _typed(self, schema: dict[str, Any], namespace: str, depth: int) -> AvroType:
        kind = schema["type"]
        if kind == "record" or kind == "error":
            return self._record(schema, namespace, depth)
        if kind == "enum":
            return self._enum(schema, namespace)
        if kind == "fixed":
            return self._fixed(schema, namespace)
        if kind == "array":
            return Array(self.parse(_part(schema, "items"), namespace, depth + 1))
        if kind == "map":
            return Map(self.parse(_part(schema, "values"), namespace, depth + 1))
        if isinstance(kind, str) and kind in _SCALARS:
            return Scalar(kind, _logical(kind, schema))
        return self.parse(kind, namespace, depth + 1)

    def _union(self, branches: list[Any], namespace: str, depth: int) -> Union:
        found = tuple(self.parse(branch, namespace, depth + 1) for branch in branches)
        names = [branch_name(branch) for branch in found]
        if any(isinstance(branch, Union) for branch in found) or len(set(names)) < len(names) or not names:
            raise ValueError(f"{_shown(branches)} is no union of different types")
        return Union(found)

    def _record(self, schema: dict[str, Any], namespace: str, depth: int) -> Record:
        name, namespace = _full_name(schema, namespace)
        record = Record(name)
        self._define(name, record)
        fields = _part(schema, "fields")
        if not isinstance(fields, list) or not all(isinstance(one, dict) for one in fields):
            raise ValueError(f"the fields of record {name} are {_shown(fields)}, not a list of fields")
        record.fields.extend(self._field(one, namespace, depth) for one in fields)
        names = [one.name for one in record.fields]
        if len(set(names)) < len(names):
            raise ValueError(f"record {name} has two fields of one name")
        return record

    def _field(self, schema: dict[str, Any], namespace: str, depth: int) -> Field:
        name, aliases = _part(schema, "name"), schema.get("aliases", [])
        if not isinstance(name, str) or not isinstance(aliases, list):
            raise ValueError(f"{_shown(schema)} is no field")  # noqa: TRY004 - the schema is wrong, not the program
        type_ = self.parse(_part(schema, "type"), namespace, depth + 1)
        return Field(name, type_, schema.get("default", NO_DEFAULT), tuple(map(str, aliases)))

    def _enum(self, schema: dict[str, Any], namespace: str) -> Enum:
        name, _ = _full_name(schema, namespace)
        symbols, default = _part(schema, "symbols"), schema.get("default")
        if not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
            raise ValueError(f"the symbols of enum {name} are {_shown(symbols)}, not a list of names")
        return self._define(name, Enum(name, tuple(symbols), default if default in symbols else None))

    def _fixed(self, schema: dict[str, Any], namespace: str) -> Fixed:
        name, _ = _full_name(schema, namespace)
        size = _part(schema, "size")
        if not isinstance(size, int) or size < 0:
            raise ValueError(f"the size of fixed {name} is {_shown(size)}, not a number of bytes")
        return self._define(name, Fixed(name, size, _logical("fixed", schema)))

    def _define(self, name: str, type_: T) -> T:
        if name in self._named or name in _SCALARS:
            raise ValueError(f"the name {name} is defined twice")
        self._named[name] = type_
        return type_

    def _known(self, name: str, namespace: str) -> AvroType:
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        found = self._named.get(full) or self._named.get(name)
        if found is None:
            raise ValueError(f"the type {full} is not defined")
        return found


def _full_name(schema: dict[str, Any], namespace: str) -> tuple[str, str]:
    """The full name of a named type, and the namespace of the names within it."""
    name = _part(schema, "name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"{_shown(name)} is no name")
    if "." not in name:
        given = schema.get("namespace", namespace) or ""
        name = f"{given}.{name}" if given else name
    return name, name.rpartition(".")[0]


def _logical(kind: str, schema: dict[str, Any]) -> Logical | None:
    name = schema.get("logicalType")
    if name is None and schema.get("connect.name") in _CONNECT:
        base, meaning = _CONNECT[schema["connect.name"]]
        return Logical(meaning) if base == kind else None
    if name not in _LOGICAL.get(kind, set()):
        return None
    return _decimal(schema) if name == "decimal" else _sized(kind, name, schema)


def _sized(kind: str, name: str, schema: dict[str, Any]) -> Logical | None:
    sizes = {"uuid": 16, "duration": 12}
    return None if kind == "fixed" and schema.get("size") != sizes[name] else Logical(name)


def _decimal(schema: dict[str, Any]) -> Logical | None:
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision and precision > 0:
        return Logical("decimal", precision, scale)
    return None


def _part(schema: dict[str, Any], name: str) -> Any:
    if name not in schema:
        raise ValueError(f"{_shown(schema)} has no {name}")
    return schema[name]


def _shown(schema: Any) -> str:
    text = json.dumps(schema)
    return text if len(text) <= 80 else f"{text[:80]}..."
