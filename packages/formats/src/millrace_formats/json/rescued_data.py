"""Fields for which there is no column, kept in a column of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.types as pt

from millrace.contracts import Decoded, Decoder, Payloads
from millrace.errors import SchemaError
from millrace_formats.json.parser import json_text, parse
from millrace_formats.shared.malformed_message import MalformedMessageError
from millrace_formats.shared.sql_types import sql_name

Known = Callable[[str], "tuple[bool, Known | None]"]
"""Of a field of an object: whether a column reads it, and what is known of its own fields where it is an object."""

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_quoted = msgspec.json.encode


class RescueDecoder(Decoder):
    """Decodes to the other columns, and puts what none of them reads into one, as a JSON object.

    Its names are those of fields, joined by points where they stand in objects of which other fields are read. Fields
    of objects in arrays and maps are none of them, nor are nulls.

    Args:
        inner: Decodes to the other columns.
        schema: All columns.
        name: The one of what is left.
        flattens: Whether names of columns are paths.
    """

    def __init__(self, inner: Decoder, schema: pa.Schema, name: str, *, flattens: bool) -> None:
        self._inner = inner
        self._schema = schema
        self._place = schema.get_field_index(name)
        others = [field for field in schema if field.name != name]
        self._known = _of_paths(others, "") if flattens else _of_fields(others)

    def explain(self) -> str:
        """Which path messages take."""
        return f"{self._inner.explain()}; each is looked through once more for fields that have no column"

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch."""
        decoded = self._inner.decode(payloads)
        items = payloads.to_list()
        indexes = range(len(items)) if decoded.message_index is None else decoded.message_index.to_pylist()
        rescued = pa.array([self._left_of(items[index]) for index in indexes], pa.string())
        columns = decoded.rows.columns
        columns.insert(self._place, rescued)
        rows = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        return Decoded(rows, decoded.message_index, decoded.row_kinds, decoded.errors, decoded.metadata)

    def _left_of(self, payload: bytes | None) -> str | None:
        try:
            left: dict[str, bytes] = {}
            _find(left, _fields(payload or b"{}"), self._known, "")
            parts = [bytes(_quoted(name)) + b":" + value for name, value in left.items()]
            return (b"{" + b",".join(parts) + b"}").decode() if left else None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._left_of_unusual(payload or b"")

    def _left_of_unusual(self, payload: bytes) -> str | None:
        try:
            tree = parse(payload)
            left: dict[str, Any] = {}
            if isinstance(tree, dict):
                _find_in_tree(left, tree, self._known, "")
            return json_text(left).encode("utf-8", "replace").decode() if left else None
        except (MalformedMessageError, RecursionError):
            return None  # whatever the other columns made of it


def check_rescue_column(schema: pa.Schema, name: str) -> None:
    """Raise SchemaError unless a column can hold what has no column of its own."""
    option = "option 'json.rescued-data-column'"
    if name not in schema.names:
        raise SchemaError(f"{option}: there is no column {name!r}; add it to the schema, as a STRING")
    field = schema.field(name)
    if field.type != pa.string() or not field.nullable:
        nullable = "" if field.nullable else " NOT NULL"
        raise SchemaError(
            f"{option}: column {name!r} must be a STRING that may be NULL, not {sql_name(field.type)}{nullable}"
        )


def _find(left: dict[str, bytes], fields: dict[str, msgspec.Raw], known: Known, outer: str) -> None:
    for field, raw in fields.items():
        value = bytes(raw).strip()
        is_read, inside = known(field)
        if inside is not None and value.startswith(b"{"):
            _find(left, _fields(value), inside, f"{outer}{field}.")
        elif not is_read and value != b"null":
            left[outer + field] = value


def _find_in_tree(left: dict[str, Any], tree: dict[str, Any], known: Known, outer: str) -> None:
    for field, value in tree.items():
        is_read, inside = known(field)
        if inside is not None and isinstance(value, dict):
            _find_in_tree(left, value, inside, f"{outer}{field}.")
        elif not is_read and value is not None:
            left[outer + field] = value


def _of_fields(fields: Iterable[pa.Field]) -> Known:
    """What is known of objects that have these fields."""
    known: dict[str, tuple[bool, Known | None]] = {field.name: (True, _inside(field.type)) for field in fields}
    return lambda name: known.get(name, (False, None))


def _inside(type_: pa.DataType) -> Known | None:
    return _of_fields([type_.field(place) for place in range(type_.num_fields)]) if pt.is_struct(type_) else None


def _of_paths(fields: Iterable[pa.Field], outer: str) -> Known:
    """The same of objects at a path, where fields are named by their paths."""
    columns = list(fields)
    known = _of_fields(columns)
    objects = {field.name[:place] for field in columns for place, sign in enumerate(field.name) if sign == "."}

    def at(field: str) -> tuple[bool, Known | None]:
        is_read, inside = known(outer + field)
        return is_read, _of_paths(columns, f"{outer}{field}.") if outer + field in objects else inside

    return at
