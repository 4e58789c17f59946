from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import HEADERS
from millrace.errors import SchemaError
from millrace.sink.writer.kafka_columns import kafka_carriers

ALL = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("headers", HEADERS),
        ("timestamp", pa.timestamp("us", "UTC")),
    ]
)


def refused(fields: list[tuple[str, pa.DataType]], **named: str) -> str:
    with pytest.raises(SchemaError) as error:
        kafka_carriers(pa.schema(fields), named)
    return str(error.value)


def test_all_columns_carry_what_they_are_named_for() -> None:
    assert kafka_carriers(ALL, {}) == {
        "__raw_key__": "key",
        "__raw_value__": "value",
        "topic": "topic",
        "partition": "partition",
        "header-list": "headers",
        "timestamp": "timestamp",
    }


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_keys_and_values_are_text_or_bytes(kind: pa.DataType) -> None:
    assert len(kafka_carriers(pa.schema([("key", kind), ("value", kind)]), {})) == 2


def test_an_unknown_column_is_refused() -> None:
    assert refused([("id", pa.int64()), ("value", pa.binary())]) == (
        "column 'id' cannot be written: without the option 'format' the columns are key, value, topic, partition, "
        "headers, timestamp. Give a format, such as 'json', or select these"
    )


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("key", pa.int64(), "STRING or BINARY"),
        ("value", pa.struct([]), "STRING or BINARY"),
        ("topic", pa.binary(), "STRING"),
        ("partition", pa.int64(), "INT"),
        ("timestamp", pa.timestamp("us"), "TIMESTAMP or BIGINT (ms since 1970)"),
        ("headers", pa.string(), "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
        ("headers", pa.list_(pa.string()), "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
    ],
)
def test_a_column_of_another_type_is_refused(name: str, kind: pa.DataType, expected: str) -> None:
    assert refused([(name, kind)]) == f"column {name!r} must be {expected} without the option 'format', not {kind}"


def test_headers_may_be_declared_without_nulls() -> None:
    header = pa.struct([pa.field("key", pa.string(), False), pa.field("value", pa.binary(), False)])
    strict = pa.list_(pa.field("element", header, False))
    schema = pa.schema([("value", pa.binary()), pa.field("headers", strict, False)])
    assert kafka_carriers(schema, {})["header-list"] == "headers"


def test_a_column_value_is_required() -> None:
    assert refused([("key", pa.binary())]) == "a column 'value' is required without the option 'format'"


def test_columns_that_the_option_names_may_have_any_name() -> None:
    schema = pa.schema([("payload", pa.binary()), ("at", pa.int64()), ("key", pa.binary())])
    assert kafka_carriers(schema, {"__raw_value__": "payload", "timestamp": "at"}) == {
        "__raw_value__": "payload",
        "timestamp": "at",
        "__raw_key__": "key",
    }


@pytest.mark.parametrize(
    ("named", "own", "key"),
    [("__raw_value__", "value", "__raw_value__"), ("topic", "topic", "topic"), ("headers", "headers", "header-list")],
)
def test_a_column_that_carries_what_a_named_one_carries_is_refused(named: str, own: str, key: str) -> None:
    columns = [("named", pa.binary()), ("value", pa.binary()), ("topic", pa.string()), ("headers", HEADERS)]
    assert refused(columns, **{named: "named"}) == (
        f"columns 'named' ({named}) and {own!r} ({key}) exclude each other: a record takes one of them; drop the other "
        f"column, or its entry in the option 'metadata.columns'"
    )
