"""Resolution of writers' schemas: fields by name or alias, defaults, and columns that cannot be read."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import pyarrow as pa
import pytest

from millrace.contracts import Payloads
from millrace.errors import SchemaError
from millrace_formats.avro import AvroFormat, AvroOptions
from millrace_formats.avro.reader.datum_reader import DatumReader
from millrace_formats.avro.reader.decoder import AvroDecoder
from millrace_formats.avro.reader.resolution import resolve, unreadable
from millrace_formats.avro.schema.parser import parse_schema
from millrace_formats.shared.fallback_decoder import FallbackDecoder
from unit.formats.avro.datums import encoded
from unit.formats.avro.decoding import decode, logical, record

NTZ, UTC = pa.timestamp("us"), pa.timestamp("us", "UTC")
NOON = dt.datetime(2024, 5, 1, 12, 0, 0, 250_000)
MICROS = int(NOON.replace(tzinfo=dt.UTC).timestamp() * 1_000_000)


def test_fields_are_found_by_name_in_any_order_and_others_are_skipped() -> None:
    writer = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "x", "type": {"type": "map", "values": ["null", "double"]}},
            {"name": "b", "type": "int"},
            {"name": "y", "type": {"type": "enum", "name": "E", "symbols": ["A"]}},
            {"name": "a", "type": "string"},
            {"name": "z", "type": {"type": "array", "items": record("bytes", "Z")}},
        ],
    }
    message = encoded(writer, {"x": {"k": None, "l": 1.0}, "b": 7, "y": "A", "a": "text", "z": [{"a": b"1"}]})
    schema = pa.schema([("a", pa.string()), ("b", pa.int64()), ("c", pa.int32())])
    decoder = AvroDecoder(schema, resolve(parse_schema(json.dumps(writer)), None, schema, legacy=True))
    assert decoder.decode(Payloads([message])).rows.to_pylist() == [{"a": "text", "b": 7, "c": None}]


def test_a_readers_schema_has_aliases_defaults_and_symbols() -> None:
    colors = {"type": "enum", "name": "Color", "symbols": ["RED", "OTHER"], "default": "OTHER"}
    reader = {
        "type": "record",
        "name": "Now",
        "fields": [
            {"name": "full_name", "type": "string", "aliases": ["name", "nick"]},
            {"name": "color", "type": colors},
            {"name": "tags", "type": {"type": "array", "items": "string"}, "default": ["new"]},
            {"name": "price", "type": logical("bytes", "decimal", precision=5, scale=2), "default": "\u0001\u0000"},
            {"name": "inner", "type": ["null", record("int", "Inner")], "default": None},
            {"name": "weight", "type": ["double", "null"], "default": 1.5},
        ],
    }
    writer = {
        "type": "record",
        "name": "Then",
        "fields": [
            {"name": "color", "type": {"type": "enum", "name": "C", "symbols": ["BLUE", "RED"]}},
            {"name": "name", "type": "string"},
        ],
    }
    schema = pa.schema(
        [
            pa.field("full_name", pa.string(), False),
            ("color", pa.string()),
            ("tags", pa.list_(pa.string())),
            ("price", pa.decimal128(5, 2)),
            ("inner", pa.struct([("a", pa.int32())])),
            ("weight", pa.float64()),
        ]
    )
    plan = resolve(parse_schema(json.dumps(writer)), parse_schema(json.dumps(reader)), schema, legacy=True)
    messages = [encoded(writer, {"color": color, "name": color.lower()}) for color in ("BLUE", "RED")]
    filled = {"tags": ["new"], "price": Decimal("2.56"), "inner": None, "weight": 1.5}
    for decoder in (AvroDecoder(schema, plan), FallbackDecoder(schema, None, DatumReader(plan))):
        assert decoder.decode(Payloads(messages)).rows.to_pylist() == [
            {"full_name": "blue", "color": "OTHER", **filled},
            {"full_name": "red", "color": "RED", **filled},
        ]


def test_a_readers_field_without_a_default_must_be_there() -> None:
    reader = {"type": "record", "name": "R", "fields": [{"name": "b", "type": "int"}]}
    (error,) = decode(record("int"), pa.field("b", pa.int32()), b"\2", reader=reader).errors
    assert error.reason == (
        "the writer's record R has no field 'b', which has no default in the schema of option 'schema'"
    )


def test_a_default_of_null_does_not_fill_a_not_null_column() -> None:
    reader = {"type": "record", "name": "R", "fields": [{"name": "b", "type": ["null", "int"], "default": None}]}
    assert decode(record("int"), pa.field("b", pa.int32()), b"\2", reader=reader).rows.to_pylist() == [{"b": None}]
    (error,) = decode(record("int"), pa.field("b", pa.int32(), False), b"\2", reader=reader).errors
    assert error.reason == "the writer's record R has no field 'b', which is NOT NULL"


def test_columns_that_the_schema_cannot_be_read_into_are_refused_when_the_decoder_is_made() -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}, {"name": "b", "type": "long"}]}
    options = AvroOptions(schema=json.dumps(schema))
    with pytest.raises(SchemaError) as caught:
        AvroFormat(options).decoder(pa.schema([("a", pa.int32()), ("b", pa.list_(pa.int32()))]))
    assert "column a: the writer's string cannot be read as INT" in str(caught.value)
    assert "column b: the writer's long cannot be read as ARRAY<INT>" in str(caught.value)


def test_a_record_is_read_as_a_map_of_texts_only() -> None:
    inner = {"type": "record", "name": "Inner", "fields": [{"name": "b", "type": "boolean"}]}
    writer = parse_schema(json.dumps(record(inner)))
    for item, problem in (
        (pa.string(), ""),
        (pa.bool_(), "column a: the writer's record Inner cannot be read as MAP<STRING, BOOLEAN>"),
    ):
        schema = pa.schema([("a", pa.map_(pa.string(), item))])
        plan = resolve(writer, None, schema, legacy=True, texts=True)
        assert "; ".join(unreadable(plan)) == problem
