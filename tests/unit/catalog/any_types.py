"""Strategies for types of columns, and for JSON that a column of a type can hold."""

from __future__ import annotations

import base64
import datetime as dt
import json

from hypothesis import strategies as st

from millrace_catalog import types
from millrace_catalog.types import ArrayType, Column, DataType, MapType, RowType, ScalarType, with_nullability

LENGTHS = st.sampled_from([1, 2, 17, 2**31 - 1])
PRECISIONS = st.integers(0, 9)
DECIMALS = st.integers(1, 38).flatmap(lambda digits: st.builds(types.decimal, st.just(digits), st.integers(0, digits)))
NAMES = st.sampled_from(["a", "b", "c", "a.b", "Ü `x`", ""])
"""Few, so that the rows of two types often share some."""

_PLAIN = [types.BOOLEAN, types.TINYINT, types.SMALLINT, types.INT, types.BIGINT, types.FLOAT, types.DOUBLE]
READABLE = st.one_of(
    st.sampled_from([*_PLAIN, types.STRING, types.BYTES, types.DATE]),
    DECIMALS,
    *(st.builds(make, LENGTHS) for make in (types.char, types.varchar, types.binary, types.varbinary)),
    *(st.builds(make, PRECISIONS) for make in (types.time, types.timestamp, types.timestamp_ltz)),
)
"""The types that json reads."""

ALL_SCALARS = READABLE | st.sampled_from([types.VARIANT, types.NULL]) | st.builds(types.timestamp_tz, PRECISIONS)
KEYS = READABLE.filter(lambda type_: type_.kind not in ("FLOAT", "DOUBLE", "BINARY", "VARBINARY"))


def either_nullable(strategy: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    """The same types, nullable or not; NULL is always nullable."""
    return st.tuples(strategy, st.booleans()).map(
        lambda pair: with_nullability(pair[0], pair[0] == types.NULL or pair[1])
    )


def nested(
    scalars: st.SearchStrategy[ScalarType], keys: st.SearchStrategy[ScalarType] = KEYS
) -> st.SearchStrategy[DataType]:
    """Types of scalars, and what can be made of them."""
    return st.recursive(
        either_nullable(scalars),
        lambda inner: either_nullable(
            st.builds(ArrayType, inner)
            | st.builds(MapType, keys.map(lambda key: with_nullability(key, False)), inner)
            | st.lists(st.builds(Column, NAMES, inner), max_size=3, unique_by=lambda column: column.name).map(
                lambda fields: RowType(tuple(fields))
            )
        ),
        max_leaves=5,
    )


ALL = nested(ALL_SCALARS)


def json_of(type_: DataType) -> st.SearchStrategy[str]:
    """The JSON texts of values of a type."""
    value = _json_of_value(type_)
    return value | st.just("null") if type_.nullable else value


def _json_of_value(type_: DataType) -> st.SearchStrategy[str]:
    if isinstance(type_, ArrayType):
        return st.lists(json_of(type_.element), max_size=2).map(lambda items: f"[{','.join(items)}]")
    if isinstance(type_, MapType):
        keys = _json_of_value(type_.key).map(lambda key: key if key.startswith('"') else f'"{key}"')
        return st.dictionaries(keys, json_of(type_.value), max_size=2).map(_object)
    if isinstance(type_, RowType):
        fields = {json.dumps(field.name): json_of(field.type) for field in type_.fields}
        return st.fixed_dictionaries(fields).map(_object)
    return _json_of_scalar(type_)


def _json_of_scalar(type_: ScalarType) -> st.SearchStrategy[str]:
    bits = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}.get(type_.kind)
    if bits is not None:
        return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1).map(str)
    if type_.kind == "DECIMAL":
        most, scale = 10 ** (type_.size or 0) - 1, type_.scale or 0
        return st.integers(-most, most).map(lambda number: _plain(number, scale))
    if type_.kind in ("FLOAT", "DOUBLE"):
        width = 32 if type_.kind == "FLOAT" else 64
        return st.floats(allow_nan=False, allow_infinity=False, width=width).map(repr)
    if type_.kind == "BOOLEAN":
        return st.sampled_from(["true", "false"])
    return _texts(type_).map(json.dumps)


def _plain(number: int, scale: int) -> str:
    """A number with its last digits behind the point; Python's decimals would round it."""
    digits = str(abs(number)).rjust(scale + 1, "0")
    return ("-" if number < 0 else "") + (f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits)


def _texts(type_: ScalarType) -> st.SearchStrategy[str]:
    if type_.kind in ("BINARY", "VARBINARY"):
        return st.binary(max_size=3).map(lambda data: base64.b64encode(data).decode())
    if type_.kind == "DATE":
        return st.dates().map(str)
    if type_.kind == "TIME":
        return st.times().map(str)
    if type_.kind == "TIMESTAMP":
        return st.datetimes().map(str)
    if type_.kind == "TIMESTAMP_LTZ":
        return st.datetimes(timezones=st.just(dt.UTC)).map(lambda when: f"{when.replace(tzinfo=None)}Z")
    return st.text(st.characters(codec="utf-8"), max_size=5)


def _object(fields: dict[str, str]) -> str:
    return "{" + ",".join(f"{name}:{value}" for name, value in fields.items()) + "}"
