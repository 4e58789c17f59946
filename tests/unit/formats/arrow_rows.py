"""Hypothesis strategies for Arrow types that SQL has, and for rows of them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from hypothesis import strategies as st

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "+05:30"]


def scalar_types() -> list[pa.DataType]:
    """One type of every kind that holds no other."""
    return [
        pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(),
        pa.date32(), pa.time64("us"), pa.timestamp("us"), *(pa.timestamp("us", zone) for zone in ZONES),
        pa.decimal128(5, 2), pa.decimal128(10, 10), pa.decimal128(38, 0), pa.decimal128(38, 18), pa.decimal128(38, 38),
    ]  # fmt: skip


def types() -> st.SearchStrategy[pa.DataType]:
    """Scalar types, and structs, lists and maps nested in each other."""
    return st.recursive(st.sampled_from(scalar_types()), _nested, max_leaves=4)


def _nested(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    fields = st.lists(st.tuples(inner, st.booleans()), min_size=1, max_size=3)
    keys = st.sampled_from([pa.string(), pa.string(), pa.int32(), pa.date32()])
    return (
        fields.map(lambda parts: pa.struct([pa.field("abc"[i], type_, null) for i, (type_, null) in enumerate(parts)]))
        | st.builds(lambda type_, null: pa.list_(pa.field("element", type_, null)), inner, st.booleans())
        | st.builds(lambda key, type_, null: pa.map_(key, pa.field("value", type_, null)), keys, inner, st.booleans())
    )


def values(type_: pa.DataType, nullable: bool = True) -> st.SearchStrategy[Any]:
    """Values of a type, as ``pa.array`` takes them."""
    strategy = _values(type_)
    return strategy | st.none() if nullable else strategy


def _values(type_: pa.DataType) -> st.SearchStrategy[Any]:
    if pt.is_struct(type_):
        fields = [type_.field(i) for i in range(type_.num_fields)]
        return st.fixed_dictionaries({field.name: values(field.type, field.nullable) for field in fields})
    if pt.is_list(type_):
        return st.lists(values(type_.value_type, type_.value_field.nullable), max_size=3)
    if pt.is_map(type_):
        item = values(type_.item_type, type_.item_field.nullable)
        return st.dictionaries(_values(type_.key_type), item, max_size=3).map(lambda entries: list(entries.items()))
    if pt.is_integer(type_):
        return st.integers(-(1 << type_.bit_width - 1), (1 << type_.bit_width - 1) - 1)
    if pt.is_decimal128(type_):
        digits = st.integers(-(10**type_.precision) + 1, 10**type_.precision - 1) | st.integers(-9, 9)
        return digits.map(lambda number: Decimal(f"{number}E-{type_.scale}"))
    if pt.is_timestamp(type_):
        # away from the ends, so that no time zone moves them beyond
        instants = st.datetimes(dt.datetime(1, 1, 3), dt.datetime(9999, 12, 29))
        return instants if type_.tz is None else instants.map(lambda value: value.replace(tzinfo=dt.UTC))
    return _SIMPLE[type_]


_SIMPLE: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.string(): st.text(st.characters(codec="utf-8"), max_size=30),
    pa.binary(): st.binary(max_size=30),
    pa.date32(): st.dates(),
    pa.time64("us"): st.times(),
}


@st.composite
def batches(draw: st.DrawFn, of_types: st.SearchStrategy[pa.DataType] | None = None) -> pa.RecordBatch:
    """Batches of up to six rows and three columns."""
    names = draw(st.lists(st.sampled_from(["a", "b", "class", 'q"\n']), min_size=1, max_size=3, unique=True))
    schema = pa.schema(
        [pa.field(name, draw(types() if of_types is None else of_types), draw(st.booleans())) for name in names]
    )
    count = draw(st.integers(0, 6))
    columns = [
        pa.array(draw(st.lists(values(f.type, f.nullable), min_size=count, max_size=count)), f.type) for f in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
