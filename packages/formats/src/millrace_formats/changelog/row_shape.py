"""What msgspec is asked for in a row: as for json, but that numbers and booleans may be text.

Some tools write all values of a database as text, and a topic may hold messages of both sorts.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace_formats.json.columns import Build, Reject, column_builder
from millrace_formats.json.shapes import NULL, attribute, field_shape
from millrace_formats.shared.number_columns import parse_booleans, parse_floats, parse_integers


def row_shape(fields: list[pa.Field], partial: bool) -> type[msgspec.Struct] | None:
    """A class whose attribute ``f<i>`` is the row's i-th field, or None when msgspec cannot read the row.

    Args:
        fields: The row's fields.
        partial: Whether a field that is absent is unset; else it is NULL.
    """
    definitions: list[Any] = []
    for index, field in enumerate(fields):
        shape = value_shape(field)
        if shape is None:
            return None
        if partial:
            definitions.append((attribute(index), shape, msgspec.UNSET))
        elif field.nullable:
            definitions.append((attribute(index), shape, NULL if shape is msgspec.Raw else None))
        else:
            definitions.append((attribute(index), shape))
    names = {attribute(index): field.name for index, field in enumerate(fields)}
    try:
        return msgspec.defstruct("Row", definitions, rename=names, gc=False, kw_only=True)
    except ValueError:
        return None  # a name with quotes or control characters


def value_shape(field: pa.Field) -> Any:
    """The type to ask for a field, or None when msgspec cannot read it exactly."""
    if not _may_be_text(field.type):
        return field_shape(field, False)
    shape = field_shape(field.with_nullable(False), False) | str
    return shape | None if field.nullable else shape


def value_column(field: pa.Field, iso: bool) -> Build:
    """A builder of the column of a field from values of its `value_shape`; ``iso`` is how timestamps are written."""
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
