"""Columns of JSON Schemas, and JSON Schemas of columns."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from millrace_formats.json.registry.columns import columns_of
from millrace_formats.json.registry.derivation import derive_schema
from millrace_formats.json.registry.schemas import JsonSchema, parse_schema
from millrace_formats.registry.schema_registry import SchemaReference, SchemaText

INSTANT = pa.timestamp("us", "UTC")
SCALARS = [
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(),
    pa.date32(), pa.time64("us"), INSTANT, pa.timestamp("us"), pa.decimal128(10, 2),
]  # fmt: skip


def parsed(schema: Any, **references: Any) -> JsonSchema:
    texts = tuple(SchemaReference(name, json.dumps(each), name, 1) for name, each in references.items())
    return parse_schema(SchemaText(json.dumps(schema), texts))


def columns(schema: Any, **references: Any) -> dict[str, pa.DataType]:
    found = columns_of(parsed(schema, **references))
    assert found is not None
    assert all(field.nullable for field in found)
    return {field.name: field.type for field in found}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_columns_have_the_types_that_they_were_derived_from() -> None:
    scalars = [pa.field(f"c{index}", type_, bool(index % 2)) for index, type_ in enumerate(SCALARS)]
    inner = pa.struct([field.with_nullable(True) for field in scalars])
    nested = [("list", pa.list_(inner)), ("map", pa.map_(pa.string(), inner)), ("struct", inner)]
    schema = pa.schema([*scalars, *nested])
    text = derive_schema(schema)
    assert columns(json.loads(text)) == {field.name: field.type for field in schema}
    assert json.loads(text)["required"] == [field.name for field in schema if not field.nullable]


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_columns_of_several_alternatives_are_those_of_all(keyword: str) -> None:
    paid, sent = of(id={"type": "integer"}, cents={"type": "number"}), of(id={"type": "integer"}, by={"type": "string"})
    parts = {**of(seen={"type": "boolean"}), keyword: [{"type": "null"}, {"$ref": "paid"}, sent]}
    expected = {"seen": pa.bool_(), "id": pa.int64(), "cents": pa.float64(), "by": pa.string()}
    assert columns(parts, paid=paid) == expected
    with pytest.raises(ValueError, match="property 'id' is of several types in its alternatives"):
        columns({keyword: [paid, of(id={"type": "string"})]})


@pytest.mark.parametrize(
    ("part", "type_"),
    [
        ({"type": "integer"}, pa.int64()),
        ({"type": "number"}, pa.float64()),
        ({"type": ["null", "string"]}, pa.string()),
        ({"type": ["integer", "string"]}, pa.string()),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, pa.bool_()),
        ({"oneOf": [{"type": "boolean"}, {"type": "integer"}]}, pa.string()),
        ({"enum": ["A", "B", None]}, pa.string()),
        ({"const": 7}, pa.int64()),
        ({"type": "string", "format": "date-time"}, INSTANT),
        ({"type": "string", "format": "email"}, pa.string()),
        ({"type": "integer", "connect.type": "int32", "title": "org.apache.kafka.connect.data.Date"}, pa.date32()),
        ({"type": "number", "connect.type": "int64", "title": "org.apache.kafka.connect.data.Timestamp"}, INSTANT),
        ({"type": "object"}, pa.string()),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, pa.map_(pa.string(), pa.int64())),
        ({"type": "array", "items": {"type": "string"}}, pa.list_(pa.field("element", pa.string()))),
        ({"type": "array"}, pa.list_(pa.field("element", pa.string()))),
        ({"allOf": [of(a={"type": "string"}), of(b={"type": "integer"})]},
         pa.struct([("a", pa.string()), ("b", pa.int64())])),
        ({}, pa.string()),
        (True, pa.string()),
        ({"type": "number", "title": "org.apache.kafka.connect.data.Decimal",
          "connect.parameters": {"scale": "x"}}, pa.string()),
    ],
)  # fmt: skip
def test_types_of_properties(part: Any, type_: pa.DataType) -> None:
    assert columns(of(a=part)) == {"a": type_}


def test_references_within_and_between_schemas() -> None:
    money = {"$id": "http://shop/money.json", "$defs": {"cents": {"type": "integer"}},
             "type": "object", "properties": {"cents": {"$ref": "#/$defs/cents"}}}  # fmt: skip
    schema = {
        **of(a={"$ref": "#/definitions/text~1s"}, b={"$ref": "money.json"}, c={"$ref": "http://shop/money.json#/$defs/cents"}),
        "definitions": {"text/s": {"type": "string"}},
    }  # fmt: skip
    price = pa.struct([("cents", pa.int64())])
    assert columns(schema, **{"money.json": money}) == {"a": pa.string(), "b": price, "c": pa.int64()}


@pytest.mark.parametrize("reference", ["other.json", "#/nothing", "#/properties/a/5"])
def test_a_reference_to_nothing_is_an_error(reference: str) -> None:
    with pytest.raises(ValueError, match="it refers to"):
        columns_of(parsed(of(a={"$ref": reference})))


@pytest.mark.parametrize("schema", [{"type": "string"}, True, of(a={"$ref": "#"}), {"$ref": "#"}, of()])
def test_schemas_without_columns(schema: Any) -> None:
    assert columns_of(parsed(schema)) is None


@pytest.mark.parametrize("text", ["", "[1]", '"a"', "{", "[" * 100_000])
def test_what_is_no_schema_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|expected a JSON object|nested too deeply"):
        parse_schema(SchemaText(text))
