"""Least common type of two types.

It is a join: commutative, associative, idempotent, and an upper bound of both. Every value of a type can be read as
each wider type; only a BIGINT beyond 2^53 loses digits as a DOUBLE.

- Integers widen to larger ones; combined with a DECIMAL they count as decimals of their maximum digits.
- A DECIMAL gets the larger number of digits before the point and behind it. More than 38 in all make a STRING.
- FLOAT holds TINYINT and SMALLINT, DOUBLE all integers and FLOAT; neither combines with DECIMAL.
- TIMESTAMP widens to TIMESTAMP_LTZ, and that to TIMESTAMP_TZ. DATE and TIME widen to neither: messages hold texts, and
  the text of a date is not the text of a timestamp.
- Of two lengths or precisions, the larger one counts.
- Elements, keys and values widen. A row has the fields of both by name, those of the first in front; a field that one
  of them lacks is nullable.
- NULL, the type of a column that has held only nulls, is below all others.
- Everything else is STRING. The result is nullable if either is.
"""

from __future__ import annotations

from collections.abc import Callable

from millrace_catalog.types.model import (
    MAX_DIGITS,
    NULL,
    STRING,
    ArrayType,
    Column,
    DataType,
    Kind,
    MapType,
    RowType,
    ScalarType,
    Schema,
    with_nullability,
)

_INTEGERS: dict[Kind, int] = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
"""Maximum digits of the integers, from the narrowest to the widest."""

_EXACT = {*_INTEGERS, "DECIMAL"}
_IN_FLOAT: set[Kind] = {"TINYINT", "SMALLINT", "FLOAT"}
_IN_DOUBLE = {*_INTEGERS, "FLOAT", "DOUBLE"}
_TIMESTAMPS: tuple[Kind, ...] = ("TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_TZ")


def least_common_type(left: DataType, right: DataType) -> DataType:
    """Return the narrowest type that holds the values of both; ``left`` itself when it does."""
    if left == right:
        return left
    joined = with_nullability(_join(left, right), left.nullable or right.nullable)
    return left if joined == left else joined


def widen_schemas(current: Schema, other: Schema) -> Schema:
    """Widen the columns of ``current`` to hold those of ``other`` by name, and append those that it lacks.

    A column that one of the two lacks is nullable.
    """
    return Schema(_join_columns(current.columns, other.columns))


def deeply_nullable(type_: DataType) -> DataType:
    """Make all parts of a type nullable, as the next message may lack any of them."""
    return _with_parts(type_, deeply_nullable)


def resolve_unknown(type_: DataType) -> DataType:
    """Replace types that no value has determined yet with STRING: NULL, and ROW without fields."""
    if type_ == NULL or (isinstance(type_, RowType) and not type_.fields):
        return STRING
    return _with_parts(type_, resolve_unknown)


def _join(left: DataType, right: DataType) -> DataType:
    if left == NULL or right == NULL:
        return right if left == NULL else left
    if isinstance(left, ScalarType) and isinstance(right, ScalarType):
        return _join_scalars(left, right)
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        return ArrayType(least_common_type(left.element, right.element))
    if isinstance(left, MapType) and isinstance(right, MapType):
        return MapType(least_common_type(left.key, right.key), least_common_type(left.value, right.value))
    if isinstance(left, RowType) and isinstance(right, RowType):
        return RowType(_join_columns(left.fields, right.fields))
    return STRING


def _join_columns(left: tuple[Column, ...], right: tuple[Column, ...]) -> tuple[Column, ...]:
    others = {column.name: column for column in right}
    joined = [_join_column(column, others.pop(column.name, None)) for column in left]
    joined += [_join_column(column, None) for column in others.values()]
    return tuple(joined)


def _join_column(column: Column, other: Column | None) -> Column:
    type_ = with_nullability(column.type, True) if other is None else least_common_type(column.type, other.type)
    return column if type_ is column.type else Column(column.name, type_)


def _join_scalars(left: ScalarType, right: ScalarType) -> ScalarType:
    kinds = {left.kind, right.kind}
    if kinds <= _EXACT:
        return _join_exact(left, right)
    if kinds <= _IN_DOUBLE:
        return ScalarType("FLOAT" if kinds <= _IN_FLOAT else "DOUBLE")
    if kinds <= set(_TIMESTAMPS):
        return _sized(max(left.kind, right.kind, key=_TIMESTAMPS.index), left, right)
    return _sized(left.kind, left, right) if len(kinds) == 1 else STRING


def _join_exact(left: ScalarType, right: ScalarType) -> ScalarType:
    if left.kind != "DECIMAL" and right.kind != "DECIMAL":
        return left if _INTEGERS[left.kind] >= _INTEGERS[right.kind] else right
    scale = max(left.scale or 0, right.scale or 0)
    digits = max(_digits_before_point(left), _digits_before_point(right)) + scale
    return ScalarType("DECIMAL", digits, scale) if digits <= MAX_DIGITS else STRING


def _digits_before_point(type_: ScalarType) -> int:
    return _INTEGERS[type_.kind] if type_.size is None else type_.size - (type_.scale or 0)


def _sized(kind: Kind, left: ScalarType, right: ScalarType) -> ScalarType:
    return ScalarType(kind) if left.size is None or right.size is None else ScalarType(kind, max(left.size, right.size))


def _with_parts(type_: DataType, convert: Callable[[DataType], DataType]) -> DataType:
    """Convert the parts of a type and make it nullable."""
    if isinstance(type_, ArrayType):
        return ArrayType(convert(type_.element))
    if isinstance(type_, MapType):
        return MapType(convert(type_.key), convert(type_.value))
    if isinstance(type_, RowType):
        return RowType(tuple(Column(field.name, convert(field.type)) for field in type_.fields))
    return with_nullability(type_, True)
