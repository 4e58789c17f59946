"""msgspec types and columns of the rows of changes: those of json, but numbers and booleans may be text too.

Some tools write all values of a database as text, and a topic may hold messages of both sorts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace_formats.json.columns import Build, column_builder
from millrace_formats.json.msgspec_types import absent_value, define_row, field_type
from millrace_formats.shared.column_casts import Reject
from millrace_formats.shared.number_columns import parse_booleans, parse_floats, parse_integers, parse_true_numbers


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


def value_column(field: pa.Field, iso: bool, *, numbers_are_booleans: bool = False) -> Build:
    """Return a builder of a field's column from values of its `value_type`.

    Args:
        field: The field.
        iso: Whether timestamps are written with a ``T``.
        numbers_are_booleans: Whether the text of an integer other than 0 is true.
    """
    build, type_ = column_builder(field, iso), field.type
    parse = functools.partial(_parse, type_=type_, numbers_are_booleans=numbers_are_booleans)
    if not _may_be_text(type_):
        return build

    def build_from_both(values: list[Any], reject: Reject) -> pa.Array:
        try:
            return build(values, reject)
        except pa.ArrowInvalid:
            return _from_texts(values, type_, parse, reject)

    return build_from_both


def _from_texts(
    values: list[Any], type_: pa.DataType, parse: Callable[[pa.StringArray, Reject], pa.Array], reject: Reject
) -> pa.Array:
    try:
        return parse(pa.array(values, pa.string()), reject)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # some are no text
        texts = pa.array([value if type(value) is str else None for value in values], pa.string())
        others = pa.array([None if type(value) is str else value for value in values], type_)
        return pc.coalesce(others, parse(texts, reject))


def _may_be_text(type_: pa.DataType) -> bool:
    return pt.is_boolean(type_) or pt.is_integer(type_) or pt.is_floating(type_)


def _parse(texts: pa.StringArray, reject: Reject, *, type_: pa.DataType, numbers_are_booleans: bool) -> pa.Array:
    if pt.is_boolean(type_):
        booleans = parse_booleans(texts)
        return pc.or_(booleans, parse_true_numbers(texts)) if numbers_are_booleans else booleans
    parse = parse_integers if pt.is_integer(type_) else parse_floats
    return parse(texts, type_, reject)
