"""Rows as state keeps them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace.source.reader.row_codec import RowCodec

TYPES = st.recursive(
    st.sampled_from(
        [
            pa.bool_(),
            pa.int8(),
            pa.int64(),
            pa.float32(),
            pa.float64(),
            pa.string(),
            pa.binary(),
            pa.date32(),
            pa.timestamp("us"),
            pa.timestamp("us", "UTC"),
            pa.duration("us"),
            pa.decimal128(38, 18),
            pa.decimal128(5, 0),
        ]
    ),
    lambda inner: st.one_of(
        inner.map(pa.list_),
        st.lists(inner, min_size=1, max_size=3).map(lambda each: pa.struct([(f"f{n}", t) for n, t in enumerate(each)])),
        inner.map(lambda each: pa.map_(pa.string(), each)),
    ),
    max_leaves=4,
)


@st.composite
def batches(draw: st.DrawFn) -> pa.RecordBatch:
    types = draw(st.lists(TYPES, min_size=1, max_size=4))
    schema = pa.schema([(f"c{number}", type_) for number, type_ in enumerate(types)])
    count = draw(st.integers(0, 4))
    columns = [
        pa.array(draw(st.lists(st.none() | _values(type_), min_size=count, max_size=count)), type_) for type_ in types
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _values(type_: pa.DataType) -> st.SearchStrategy:
    if pa.types.is_struct(type_):
        return st.fixed_dictionaries({field.name: st.none() | _values(field.type) for field in type_.fields})
    if pa.types.is_map(type_):
        return st.dictionaries(st.text(max_size=2), st.none() | _values(type_.item_type), max_size=2).map(
            lambda each: list(each.items())
        )
    if pa.types.is_list(type_):
        return st.lists(st.none() | _values(type_.value_type), max_size=2)
    if pa.types.is_decimal(type_):
        limit = 10 ** (type_.precision - type_.scale) - 1
        return st.decimals(-limit, limit, places=type_.scale)
    if pa.types.is_temporal(type_):
        return st.integers(-(2**31), 2**31 - 1)
    if pa.types.is_floating(type_):
        return st.floats(width=type_.bit_width, allow_nan=False)
    if pa.types.is_integer(type_):
        return st.integers(-(2 ** (type_.bit_width - 1)), 2 ** (type_.bit_width - 1) - 1)
    return {"bool": st.booleans(), "string": st.text(), "binary": st.binary()}[str(type_)]


@given(batches())
def test_rows_are_what_they_were(batch: pa.RecordBatch) -> None:
    codec = RowCodec(batch.schema)
    stored = codec.to_stored(batch)
    assert codec.from_stored(stored).equals(batch)
    assert RowCodec(batch.schema).to_stored(codec.from_stored(stored)) == stored


def test_rows_with_other_columns_are_refused() -> None:
    batch = pa.RecordBatch.from_pydict({"id": [1]})
    with pytest.raises(ValueError, match="their columns are others"):
        RowCodec(pa.schema([("id", pa.string())])).from_stored(RowCodec(batch.schema).to_stored(batch))
