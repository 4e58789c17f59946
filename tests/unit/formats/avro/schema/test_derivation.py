"""Schemas that are derived from columns, and columns that have none."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import SchemaError
from millrace_formats.avro import AvroFormat
from millrace_formats.avro.schema.derivation import derive_record, render_schema

NTZ, UTC = pa.timestamp("us"), pa.timestamp("us", "UTC")
FINE = dt.datetime(2024, 5, 1, 12, 0, 0, 250_001)


def derived(schema: pa.Schema, *, legacy: bool = True) -> Any:
    return json.loads(render_schema(derive_record(list(schema), legacy)))


def field_type(field: pa.Field, *, legacy: bool = True) -> Any:
    (found,) = derived(pa.schema([field]), legacy=legacy)["fields"]
    return found["type"]


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (pa.bool_(), "boolean"),
        (pa.int8(), "int"),
        (pa.int16(), "int"),
        (pa.int32(), "int"),
        (pa.int64(), "long"),
        (pa.float32(), "float"),
        (pa.float64(), "double"),
        (pa.string(), "string"),
        (pa.binary(), "bytes"),
        (pa.date32(), {"type": "int", "logicalType": "date"}),
        (pa.time64("us"), {"type": "int", "logicalType": "time-millis"}),
        (pa.decimal128(38, 18), {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 18}),
        (pa.list_(pa.int32()), {"type": "array", "items": ["null", "int"]}),
        (pa.map_(pa.string(), pa.field("value", pa.int32(), False)), {"type": "map", "values": "int"}),
    ],
)
def test_derived_types_are_those_of_flink(of: pa.DataType, expected: Any) -> None:
    assert field_type(pa.field("a", of, False)) == expected
    assert field_type(pa.field("a", of)) == ["null", expected]


def test_derived_timestamps_follow_the_mapping_option() -> None:
    found = {
        (of, legacy): field_type(pa.field("a", of, False), legacy=legacy)["logicalType"]
        for of in (NTZ, UTC)
        for legacy in (True, False)
    }
    assert found == {
        (NTZ, True): "timestamp-millis",
        (UTC, True): "timestamp-millis",
        (NTZ, False): "local-timestamp-micros",
        (UTC, False): "timestamp-micros",
    }


def test_records_are_named_after_their_path() -> None:
    inner = pa.struct([pa.field("b", pa.struct([("c", pa.int32())]), False)])
    schema = pa.schema([pa.field("a", inner), pa.field("l", pa.list_(inner), False), pa.field("a_b", inner, False)])
    assert names(derived(schema)) == [
        "record", "record_a", "record_a_b", "record_l", "record_l_b", "record_a_b_", "record_a_b__b",
    ]  # fmt: skip


def names(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for part in schema for name in names(part)]
    if not isinstance(schema, dict):
        return []
    own = [schema["name"]] if schema.get("type") == "record" else []
    return own + [name for key in ("fields", "items", "type") for name in names(schema.get(key))]


def test_nullable_columns_have_null_as_their_default() -> None:
    nullable, needed = derived(pa.schema([("a", pa.int32()), pa.field("b", pa.int32(), False)]))["fields"]
    assert nullable == {"name": "a", "type": ["null", "int"], "default": None}
    assert needed == {"name": "b", "type": "int"}


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        (
            pa.field("a b", pa.int32()),
            "column a b has a name that is not valid in Avro: use letters, digits and _ only",
        ),
        (pa.field("a", pa.struct([("1", pa.int32())])), "column a.1 has a name that is not valid in Avro"),
        (pa.field("a", pa.struct([])), "column a is STRUCT<>, which has no fields"),
        (pa.field("a", pa.map_(pa.int32(), pa.int32())), "column a is MAP<INT, INT>, whose keys are not STRING"),
        (pa.field("a", pa.list_(pa.map_(pa.date32(), pa.int32()))), "column a.element is MAP<DATE, INT>"),
        (pa.field("a", pa.duration("us")), "column a has the type INTERVAL (duration[us]), which is not supported"),
    ],
)
def test_columns_without_an_avro_schema_are_refused(field: pa.Field, problem: str) -> None:
    for make in (AvroFormat().decoder, AvroFormat().encoder):
        with pytest.raises(SchemaError) as caught:
            make(pa.schema([field]))
        assert problem in str(caught.value)
