"""msgspec types and columns of the rows of changes: those of json, but numbers and booleans may be text too.

Some tools write all values of a database as text, and a topic may hold messages of both sorts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace_formats.json.columns import Build, column_builder
from millrace_formats.json.msgspec_types import absent_value, define_row, field_type
from millrace_formats.shared.column_casts import Reject
from millrace_formats.shared.number_columns import parse_booleans, parse_floats, parse_integers


def row_type(fields: Sequence[pa.Field], *, partial: bool) -> type[msgspec.Struct] | None:
    """Make a class whose attribute ``f<i>`` is the row's i-th field; None when msgspec cannot read the row.

    Args:
        fields: The row's fields.
        partial: Whether a field that is absent is unset; else it is NULL.
    """

    def default(field: pa.Field, type_: Any) -> tuple[Any, ...]:
        if partial:
            return (msgspec.UNSET,)
        return (absent_value(type_),) if field.nullable else ()

    return define_row(fields, value_type, default)


def value_type(field: pa.Field) -> Any:
    """Return the type to read a field as; None when msgspec cannot read it exactly."""
    if not _may_be_text(field.type):
        return field_type(field, False)
    type_ = field_type(field.with_nullable(False), False) | str
    return type_ | None if field.nullable else type_


def value_column(field: pa.Field, iso: bool) -> Build:
    """Return a builder of a field's column from values of its `value_type`.

    Args:
        field: The field.
        iso: Whether timestamps are written with a ``T``.
    """
    build, type_ = column_builder(field, iso), field.type
    if not _may_be_text(type_):
        return build

    def build_from_both(values: list[Any], reject: Reject) -> pa.Array:
        try:
            return build(values, reject)
        except pa.ArrowInvalid:
            return _from_texts(values, type_, reject)

    return build_from_both


def _from_texts(values: list[Any], type_: pa.DataType, reject: Reject) -> pa.Array:
    try:
        return _parse(pa.array(values, pa.string()), type_, reject)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # some are no text
        texts = pa.array([value if type(value) is str else None for value in values], pa.string())
        others = pa.array([None if type(value) is str else value for value in values], type_)
        return pc.coalesce(others, _parse(texts, type_, reject))


def _may_be_text(type_: pa.DataType) -> bool:
    return pt.is_boolean(type_) or pt.is_integer(type_) or pt.is_floating(type_)


def _parse(texts: pa.StringArray, type_: pa.DataType, reject: Reject) -> pa.Array:
    if pt.is_boolean(type_):
        return parse_booleans(texts)
    parse = parse_integers if pt.is_integer(type_) else parse_floats
    return parse(texts, type_, reject)
