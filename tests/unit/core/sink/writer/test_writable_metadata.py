from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import HEADERS
from millrace.errors import SchemaError
from millrace.options.metadata import METADATA_KEYS, parse_metadata_columns
from millrace.sink.writer.writable_metadata import WRITABLE, kafka_metadata_columns, named_metadata_columns

MAP = pa.map_(pa.string(), pa.binary())
TYPES = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "headers": MAP,
    "header-list": HEADERS,
    "traceparent": pa.string(),
    "__raw_key__": pa.binary(),
    "__raw_value__": pa.binary(),
}


def named_columns(option: str, **columns: pa.DataType) -> dict[str, str]:
    return named_metadata_columns(pa.schema(list(columns.items())), parse_metadata_columns(option))


def refused(option: str, **columns: pa.DataType) -> str:
    with pytest.raises(SchemaError) as error:
        named_columns(option, **columns)
    return str(error.value)


def test_all_metadata_can_be_written_but_what_kafka_sets() -> None:
    assert set(METADATA_KEYS) - WRITABLE.keys() == {"offset", "timestamp-type", "leader-epoch"}


@pytest.mark.parametrize("key", WRITABLE)
def test_the_named_column_carries_it(key: str) -> None:
    assert named_columns(f"{key} AS c", id=pa.int64(), c=TYPES[key]) == {key: "c"}


@pytest.mark.parametrize("key", ["__raw_key__", "__raw_value__"])
def test_raw_bytes_may_be_text(key: str) -> None:
    assert named_columns(f"{key} AS c", c=pa.string()) == {key: "c"}


def test_a_timestamp_may_be_a_number_of_milliseconds() -> None:
    assert named_columns("timestamp AS at", at=pa.int64()) == {"timestamp": "at"}


def test_columns_that_nobody_names_are_left_to_the_format() -> None:
    assert named_columns("partition AS p", topic=pa.string(), timestamp=TYPES["timestamp"], p=pa.int32()) == {
        "partition": "p"
    }


@pytest.mark.parametrize(
    ("key", "kind", "expected"),
    [
        ("topic", pa.binary(), "STRING"),
        ("partition", pa.string(), "INT or another integer type"),
        ("timestamp", pa.timestamp("us"), "TIMESTAMP or BIGINT (ms since 1970)"),
        ("timestamp", pa.string(), "TIMESTAMP or BIGINT (ms since 1970)"),
        ("timestamp", pa.int32(), "TIMESTAMP or BIGINT (ms since 1970)"),
        ("headers", HEADERS, "MAP<STRING, BINARY>"),
        ("headers", pa.map_(pa.string(), pa.string()), "MAP<STRING, BINARY>"),
        ("header-list", MAP, "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
        ("traceparent", pa.binary(), "STRING"),
        ("__raw_key__", pa.int64(), "STRING or BINARY"),
        ("__raw_value__", pa.list_(pa.binary()), "STRING or BINARY"),
    ],
)
def test_a_column_of_another_type_is_refused(key: str, kind: pa.DataType, expected: str) -> None:
    assert refused(f"{key} AS c", c=kind) == f"metadata column 'c' ({key}) must be {expected}, not {kind}"


def test_a_column_that_the_rows_lack_is_named() -> None:
    assert refused("timestamp AS event_time", id=pa.int64()) == (
        "option 'metadata.columns' names column 'event_time' (timestamp), which the rows lack: add event_time "
        "TIMESTAMP or BIGINT (ms since 1970), or leave it out of the option"
    )


@pytest.mark.parametrize("key", ["offset", "timestamp-type", "leader-epoch"])
def test_what_kafka_sets_is_refused_when_the_rows_have_it(key: str) -> None:
    assert refused(f"{key} AS c", c=pa.int64()) == (
        f"metadata column 'c' ({key}) cannot be written, since Kafka sets it: drop the column, or its entry in the "
        f"option 'metadata.columns'"
    )


def test_what_only_a_read_has_may_stand_in_the_option() -> None:
    assert named_columns("offset, timestamp-type, topic AS t", t=pa.string()) == {"topic": "t"}


def test_headers_come_as_a_map_or_as_a_list() -> None:
    assert refused("headers AS h, header-list AS l", h=MAP, l=HEADERS) == (
        "columns 'h' (headers) and 'l' (header-list) exclude each other: a record takes one of them; drop the other "
        "column, or its entry in the option 'metadata.columns'"
    )


def test_two_columns_cannot_carry_the_same() -> None:
    assert refused("partition AS a, partition AS b", a=pa.int32(), b=pa.int32()).startswith(
        "columns 'a' (partition) and 'b' (partition) exclude each other"
    )


KAFKA_COLUMNS = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("headers", HEADERS),
        ("timestamp", pa.timestamp("us", "UTC")),
    ]
)


def refused_kafka_columns(fields: list[tuple[str, pa.DataType]], **named: str) -> str:
    with pytest.raises(SchemaError) as error:
        kafka_metadata_columns(pa.schema(fields), named)
    return str(error.value)


def test_all_columns_carry_what_they_are_named_for() -> None:
    assert kafka_metadata_columns(KAFKA_COLUMNS, {}) == {
        "__raw_key__": "key",
        "__raw_value__": "value",
        "topic": "topic",
        "partition": "partition",
        "header-list": "headers",
        "timestamp": "timestamp",
    }


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_keys_and_values_are_text_or_bytes(kind: pa.DataType) -> None:
    assert len(kafka_metadata_columns(pa.schema([("key", kind), ("value", kind)]), {})) == 2


def test_an_unknown_column_is_refused() -> None:
    assert refused_kafka_columns([("id", pa.int64()), ("value", pa.binary())]) == (
        "column 'id' cannot be written: without the option 'format' the columns are key, value, topic, partition, "
        "headers, timestamp. Give a format, such as 'json', or select these"
    )


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("key", pa.int64(), "STRING or BINARY"),
        ("value", pa.struct([]), "STRING or BINARY"),
        ("topic", pa.binary(), "STRING"),
        ("partition", pa.string(), "INT or another integer type"),
        ("timestamp", pa.timestamp("us"), "TIMESTAMP or BIGINT (ms since 1970)"),
        ("headers", pa.string(), "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
        ("headers", pa.list_(pa.string()), "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
    ],
)
def test_a_kafka_column_of_another_type_is_refused(name: str, kind: pa.DataType, expected: str) -> None:
    assert (
        refused_kafka_columns([(name, kind)])
        == f"column {name!r} must be {expected} without the option 'format', not {kind}"
    )


def test_headers_may_be_declared_without_nulls() -> None:
    header = pa.struct([pa.field("key", pa.string(), False), pa.field("value", pa.binary(), False)])
    strict = pa.list_(pa.field("element", header, False))
    schema = pa.schema([("value", pa.binary()), pa.field("headers", strict, False)])
    assert kafka_metadata_columns(schema, {})["header-list"] == "headers"


def test_a_column_value_is_required() -> None:
    assert refused_kafka_columns([("key", pa.binary())]) == "a column 'value' is required without the option 'format'"


def test_columns_that_the_option_names_may_have_any_name() -> None:
    schema = pa.schema([("payload", pa.binary()), ("at", pa.int64()), ("key", pa.binary())])
    assert kafka_metadata_columns(schema, {"__raw_value__": "payload", "timestamp": "at"}) == {
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
    assert refused_kafka_columns(columns, **{named: "named"}) == (
        f"columns 'named' ({named}) and {own!r} ({key}) exclude each other: a record takes one of them; drop the other "
        f"column, or its entry in the option 'metadata.columns'"
    )
