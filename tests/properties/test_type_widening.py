"""The least common type is a join, and whatever a type holds, its wider ones hold too."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

from millrace.contracts import Payloads
from millrace_catalog.types import (
    NULL,
    ArrayType,
    Column,
    DataType,
    MapType,
    RowType,
    Schema,
    least_common_type,
    widen_schemas,
)
from millrace_catalog.types.arrow import to_arrow
from millrace_formats.json import JsonFormat
from unit.catalog.any_types import ALL, NAMES, READABLE, json_of, nested

READABLE_TYPES = nested(READABLE)
INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
TEXTS = ("CHAR", "VARCHAR", "STRING")


@given(ALL, ALL)
def test_it_is_commutative(left: DataType, right: DataType) -> None:
    assert least_common_type(left, right) == least_common_type(right, left)


@given(ALL, ALL, ALL)
def test_it_is_associative(first: DataType, second: DataType, third: DataType) -> None:
    behind = least_common_type(first, least_common_type(second, third))
    assert least_common_type(least_common_type(first, second), third) == behind


@given(ALL)
def test_it_is_idempotent_and_null_is_below_all(type_: DataType) -> None:
    assert least_common_type(type_, type_) is type_
    assert least_common_type(NULL, type_) == least_common_type(type_, NULL)
    assert least_common_type(least_common_type(NULL, type_), type_) == least_common_type(NULL, type_)


@given(ALL, ALL)
def test_it_is_an_upper_bound_of_both(left: DataType, right: DataType) -> None:
    wide = least_common_type(left, right)
    assert least_common_type(wide, left) is wide
    assert least_common_type(wide, right) is wide
    assert wide.nullable == (left.nullable or right.nullable)


@given(ALL, ALL, ALL)
def test_it_is_the_least_one(left: DataType, right: DataType, other: DataType) -> None:
    bound = least_common_type(least_common_type(left, right), other)
    assert least_common_type(bound, least_common_type(left, right)) == bound


@given(st.data())
def test_schemas_widen_by_name_and_keep_their_columns_in_place(data: st.DataObject) -> None:
    columns = st.lists(st.builds(Column, NAMES, ALL), max_size=4, unique_by=lambda column: column.name).map(tuple)
    left, right = (Schema(data.draw(columns)) for _ in range(2))

    wide = widen_schemas(left, right)

    assert wide.names[: len(left)] == left.names
    assert wide.names[len(left) :] == tuple(name for name in right.names if name not in left.types)
    assert RowType(wide.columns) == least_common_type(RowType(left.columns), RowType(right.columns))
    assert RowType(wide.columns) == RowType(widen_schemas(right, left).columns)


@given(st.data(), READABLE_TYPES, READABLE_TYPES)
def test_every_value_reads_back_under_the_wider_type(data: st.DataObject, narrow: DataType, other: DataType) -> None:
    wide = least_common_type(narrow, other)
    text = data.draw(json_of(narrow))
    assume(text != "null")

    assert holds(wide, read(wide, text), narrow, read(narrow, text))


def read(type_: DataType, text: str) -> Any:
    """Return the value that json reads into a column."""
    schema = pa.schema([pa.field("c", to_arrow(type_), type_.nullable)])
    decoded = JsonFormat().decoder(schema).decode(Payloads([f'{{"c":{text}}}'.encode()]))
    assert not decoded.errors, decoded.errors
    return decoded.rows.column(0)[0].as_py()


def holds(wide: DataType, value: Any, narrow: DataType, before: Any) -> bool:
    """Return whether a value of the wide type equals the one that was read under the narrow type."""
    if before is None or value is None:
        return before is value
    if isinstance(wide, ArrayType) and isinstance(narrow, ArrayType):
        pairs = zip(value, before, strict=True)
        return all(holds(wide.element, item, narrow.element, item_before) for item, item_before in pairs)
    if isinstance(wide, MapType) and isinstance(narrow, MapType):
        pairs = zip(value, before, strict=True)
        return all(
            holds(wide.key, new[0], narrow.key, old[0]) and holds(wide.value, new[1], narrow.value, old[1])
            for new, old in pairs
        )
    if isinstance(wide, RowType) and isinstance(narrow, RowType):
        known = narrow.types
        return all(
            holds(field.type, value[field.name], known[field.name], before[field.name])
            if field.name in known
            else value[field.name] is None
            for field in wide.fields
        )
    return holds_scalar(wide, value, narrow, before)


def holds_scalar(wide: Any, value: Any, narrow: Any, before: Any) -> bool:
    kind = getattr(narrow, "kind", None)
    if wide.kind == "STRING" and kind not in TEXTS:
        # its JSON text, which says all that there was
        return read(narrow, value if kind is None else json.dumps(value)) == before
    if kind == "FLOAT":
        return bool(np.float32(value) == np.float32(before))
    if wide.kind in ("FLOAT", "DOUBLE"):
        return bool(value == float(before))
    if wide.kind == "DECIMAL":
        return bool(value == Decimal(before))
    if wide.kind == "TIMESTAMP_LTZ" and kind == "TIMESTAMP":
        return bool(value == before.replace(tzinfo=dt.UTC))
    return bool(value == before)
