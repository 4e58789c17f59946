"""Collect fields that have no column of their own in the rescued data column."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.types as pt

from millrace.contracts import Decoded, Decoder, Payloads
from millrace.errors import MalformedMessageError, SchemaError
from millrace_formats.json.parser import json_text, parse
from millrace_formats.shared.sql_types import sql_name

ColumnLookup = Callable[[str], "tuple[bool, ColumnLookup | None]"]
"""Returns, for the name of an object's field, whether a column reads it, and the lookup for its own fields."""

_raw_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_quoted = msgspec.json.encode


class RescuedDataDecoder(Decoder):
    """Decode to the other columns, and put the fields that none of them reads into one, as a JSON object.

    A field in an object of which columns read other fields is named by its path, joined by dots. Fields of objects in
    arrays and maps are rescued out, and so are nulls.

    Args:
        inner: Decodes to the other columns.
        schema: All columns.
        name: The rescued data column.
        flattens: Whether names of columns are paths.
    """

    def __init__(self, inner: Decoder, schema: pa.Schema, name: str, *, flattens: bool) -> None:
        self._inner = inner
        self._schema = schema
        self._column_index = schema.get_field_index(name)
        others = [field for field in schema if field.name != name]
        self._lookup = _lookup_by_path(others, "") if flattens else _lookup_by_field(others)

    def explain(self) -> str:
        """Name the path that messages take."""
        return f"{self._inner.explain()}; then each is searched for fields without a column"

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch."""
        decoded = self._inner.decode(payloads)
        items = payloads.to_list()
        indices = range(len(items)) if decoded.message_index is None else decoded.message_index.to_pylist()
        rescued = pa.array([self._rescue(items[index]) for index in indices], pa.string())
        columns = decoded.rows.columns
        columns.insert(self._column_index, rescued)
        rows = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        return Decoded(rows, decoded.message_index, decoded.row_kinds, decoded.errors, decoded.metadata)

    def _rescue(self, payload: bytes | None) -> str | None:
        try:
            rescued: dict[str, bytes] = {}
            _collect_raw(rescued, _raw_fields(payload or b"{}"), self._lookup, "")
            parts = [bytes(_quoted(name)) + b":" + value for name, value in rescued.items()]
            return (b"{" + b",".join(parts) + b"}").decode() if rescued else None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._rescue_parsed(payload or b"")

    def _rescue_parsed(self, payload: bytes) -> str | None:
        try:
            tree = parse(payload)
            rescued: dict[str, Any] = {}
            if isinstance(tree, dict):
                _collect_parsed(rescued, tree, self._lookup, "")
            return json_text(rescued).encode("utf-8", "replace").decode() if rescued else None
        except (MalformedMessageError, RecursionError):
            return None  # the inner decoder reports it


def check_rescued_data_column(schema: pa.Schema, name: str) -> None:
    """Raise SchemaError unless the schema has the rescued data column, a STRING that may be NULL."""
    option = "option 'json.rescued-data-column'"
    if name not in schema.names:
        raise SchemaError(f"{option}: there is no column {name!r}; add it to the schema, as a STRING")
    field = schema.field(name)
    if field.type != pa.string() or not field.nullable:
        nullable = "" if field.nullable else " NOT NULL"
        raise SchemaError(
            f"{option}: column {name!r} must be a STRING that may be NULL, not {sql_name(field.type)}{nullable}"
        )


def _collect_raw(rescued: dict[str, bytes], fields: dict[str, msgspec.Raw], lookup: ColumnLookup, prefix: str) -> None:
    for field, raw in fields.items():
        value = bytes(raw).strip()
        is_read, inner = lookup(field)
        if inner is not None and value.startswith(b"{"):
            _collect_raw(rescued, _raw_fields(value), inner, f"{prefix}{field}.")
        elif not is_read and value != b"null":
            rescued[prefix + field] = value


def _collect_parsed(rescued: dict[str, Any], tree: dict[str, Any], lookup: ColumnLookup, prefix: str) -> None:
    for field, value in tree.items():
        is_read, inner = lookup(field)
        if inner is not None and isinstance(value, dict):
            _collect_parsed(rescued, value, inner, f"{prefix}{field}.")
        elif not is_read and value is not None:
            rescued[prefix + field] = value


def _lookup_by_field(fields: Iterable[pa.Field]) -> ColumnLookup:
    columns: dict[str, tuple[bool, ColumnLookup | None]]
    columns = {field.name: (True, _struct_lookup(field.type)) for field in fields}
    return lambda name: columns.get(name, (False, None))


def _struct_lookup(type_: pa.DataType) -> ColumnLookup | None:
    return _lookup_by_field([type_.field(index) for index in range(type_.num_fields)]) if pt.is_struct(type_) else None


def _lookup_by_path(fields: Iterable[pa.Field], prefix: str) -> ColumnLookup:
    """Return the lookup for objects at a path, where columns are named by paths."""
    columns = list(fields)
    by_field = _lookup_by_field(columns)
    objects = {field.name[:dot] for field in columns for dot, char in enumerate(field.name) if char == "."}
    maps = {field.name for field in columns if pt.is_map(field.type)}

    def lookup(field: str) -> tuple[bool, ColumnLookup | None]:
        is_read, inner = by_field(prefix + field)
        if prefix + field not in objects or prefix + field in maps:
            return is_read, inner
        by_path = _lookup_by_path(columns, f"{prefix}{field}.")
        return is_read, by_path if inner is None else _either(by_path, inner)

    return lookup


def _either(first: ColumnLookup, second: ColumnLookup) -> ColumnLookup:
    """Return the lookup for an object that is both flattened and read as a STRUCT."""

    def lookup(field: str) -> tuple[bool, ColumnLookup | None]:
        (is_read, inner), (is_read_too, other) = first(field), second(field)
        both = inner or other if inner is None or other is None else _either(inner, other)
        return is_read or is_read_too, both

    return lookup
