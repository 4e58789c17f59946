"""The least type that holds what two types hold.

It is a join: commutative, associative, idempotent, and an upper bound of both. Every value of a type reads back under
each wider one; the one loss is that of a BIGINT beyond 2^53 as a DOUBLE, which becomes the nearest one.

- Integers widen to larger ones; with a DECIMAL they are decimals of as many digits as they can have.
- Decimals get the most digits before the point and the most behind it of both. With more than 38 in all: STRING.
- FLOAT holds TINYINT and SMALLINT, DOUBLE all integers and FLOAT; neither goes with DECIMAL.
- TIMESTAMP widens to TIMESTAMP_LTZ, and that to TIMESTAMP_TZ. Neither a DATE nor a TIME is one of them: their texts,
  which is what messages hold, are no timestamps.
- Of two lengths or precisions the larger one counts.
- Elements, keys and values widen. Rows have the fields of both by name, those of the first in front; a field that one
  of them lacks may be NULL.
- NULL, the type of what has been null only, is below all others.
- All else is a STRING. What is nullable in either is nullable.
"""

from __future__ import annotations

from dataclasses import replace

from millrace_catalog.types.model import MAX_DIGITS, NULL, STRING, Array, Column, DataType, Kind, Map, Row, Scalar
from millrace_catalog.types.schema import Schema

_INTEGERS: dict[Kind, int] = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
"""How many digits the integers can have, from the narrowest to the widest."""

_EXACT = {*_INTEGERS, "DECIMAL"}
_IN_FLOAT: set[Kind] = {"TINYINT", "SMALLINT", "FLOAT"}
_IN_DOUBLE = {*_INTEGERS, "FLOAT", "DOUBLE"}
_TIMESTAMPS: tuple[Kind, ...] = ("TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_TZ")


def least_common_type(left: DataType, right: DataType) -> DataType:
    """The narrowest type that holds the values of both; ``left`` itself when it does."""
    if left == right:
        return left
    joined = with_nullability(_join(left, right), left.nullable or right.nullable)
    return left if joined == left else joined


def widen_schemas(current: Schema, other: Schema) -> Schema:
    """The columns of ``current``, each as wide as the one of its name in ``other``, and then those that it lacks.

    A column that one of the two lacks is nullable.
    """
    return Schema(_join_columns(current.columns, other.columns))


def with_nullability(type_: DataType, nullable: bool) -> DataType:
    """The same type, nullable or not."""
    return type_ if type_.nullable == nullable else replace(type_, nullable=nullable)


def _join(left: DataType, right: DataType) -> DataType:
    if left == NULL or right == NULL:
        return right if left == NULL else left
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return _join_scalars(left, right)
    if isinstance(left, Array) and isinstance(right, Array):
        return Array(least_common_type(left.element, right.element))
    if isinstance(left, Map) and isinstance(right, Map):
        return Map(least_common_type(left.key, right.key), least_common_type(left.value, right.value))
    if isinstance(left, Row) and isinstance(right, Row):
        return Row(_join_columns(left.fields, right.fields))
    return STRING


def _join_columns(left: tuple[Column, ...], right: tuple[Column, ...]) -> tuple[Column, ...]:
    others = {column.name: column for column in right}
    joined = [_join_column(column, others.pop(column.name, None)) for column in left]
    joined += [_join_column(column, None) for column in others.values()]
    return tuple(joined)


def _join_column(column: Column, other: Column | None) -> Column:
    known = with_nullability(column.type, True) if other is None else least_common_type(column.type, other.type)
    return column if known is column.type else Column(column.name, known)


def _join_scalars(left: Scalar, right: Scalar) -> Scalar:
    kinds = {left.kind, right.kind}
    if kinds <= _EXACT:
        return _join_exact(left, right)
    if kinds <= _IN_DOUBLE:
        return Scalar("FLOAT" if kinds <= _IN_FLOAT else "DOUBLE")
    if kinds <= set(_TIMESTAMPS):
        return _sized(max(left.kind, right.kind, key=_TIMESTAMPS.index), left, right)
    return _sized(left.kind, left, right) if len(kinds) == 1 else STRING


def _join_exact(left: Scalar, right: Scalar) -> Scalar:
    if left.kind != "DECIMAL" and right.kind != "DECIMAL":
        return left if _INTEGERS[left.kind] >= _INTEGERS[right.kind] else right
    scale = max(left.scale or 0, right.scale or 0)
    digits = max(_digits_before_point(left), _digits_before_point(right)) + scale
    return Scalar("DECIMAL", digits, scale) if digits <= MAX_DIGITS else STRING


def _digits_before_point(type_: Scalar) -> int:
    return _INTEGERS[type_.kind] if type_.size is None else type_.size - (type_.scale or 0)


def _sized(kind: Kind, left: Scalar, right: Scalar) -> Scalar:
    return Scalar(kind) if left.size is None or right.size is None else Scalar(kind, max(left.size, right.size))
