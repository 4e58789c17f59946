from __future__ import annotations

import datetime
from collections.abc import Callable

import pyarrow as pa
import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE

from millrace.contracts import HEADERS
from millrace.errors import SchemaError
from millrace.records.messages import Messages
from millrace.records.spark_kafka_columns import check_spark_kafka_schema, spark_kafka_columns, spark_kafka_schema

Make = Callable[..., Messages]
NAMES = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]


def test_the_columns_are_those_of_sparks_own_connector() -> None:
    assert spark_kafka_schema(include_headers=False).names == NAMES
    assert spark_kafka_schema(include_headers=True).names == [*NAMES, "headers"]


def test_messages_become_all_columns(messages: Make) -> None:
    schema = spark_kafka_schema(include_headers=True)
    rows = spark_kafka_columns(
        schema,
        messages(
            {"key": b"k", "value": b"v", "timestamp": (TIMESTAMP_CREATE_TIME, 1_500), "headers": [("h", b"1")]},
            {"timestamp": (TIMESTAMP_LOG_APPEND_TIME, 0)},
            {"timestamp": (TIMESTAMP_NOT_AVAILABLE, -1)},
        ),
    ).rows
    assert rows.schema == schema
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    assert rows.to_pydict() == {
        "key": [b"k", None, None],
        "value": [b"v", None, None],
        "topic": ["orders"] * 3,
        "partition": [3] * 3,
        "offset": [100, 101, 102],
        "timestamp": [epoch + datetime.timedelta(seconds=1.5), epoch, None],
        "timestampType": [0, 1, -1],
        "headers": [[{"key": "h", "value": b"1"}], None, None],
    }


def test_joined_messages_keep_their_topics_and_partitions(messages: Make) -> None:
    places = ("orders", 3), ("orders", 0), ("refunds", 3), ("orders", 3)
    parts = [messages({"topic": topic, "partition": partition}) for topic, partition in places]
    schema = spark_kafka_schema(include_headers=False)
    rows = spark_kafka_columns(schema, Messages.joined(parts)).rows
    assert rows.schema == schema
    assert list(zip(rows["topic"].to_pylist(), rows["partition"].to_pylist(), strict=True)) == list(places)


def test_columns_come_in_the_order_that_is_asked_for(messages: Make) -> None:
    schema = pa.schema([("offset", pa.int64()), ("value", pa.binary())])
    assert spark_kafka_columns(schema, messages({"value": b"v"})).rows.to_pydict() == {"offset": [100], "value": [b"v"]}


def test_any_choice_of_the_columns_is_accepted() -> None:
    check_spark_kafka_schema(spark_kafka_schema(include_headers=True))
    check_spark_kafka_schema(pa.schema([("headers", HEADERS), ("value", pa.binary())]))


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(SchemaError) as error:
        check_spark_kafka_schema(pa.schema([("value", pa.binary()), ("id", pa.int64())]))
    assert str(error.value) == (
        "column 'id': without the option 'format' the columns are key, value, topic, partition, offset, timestamp, "
        "timestampType, headers. Choose from these, or give a format, such as 'json'"
    )


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("value", pa.string(), "BINARY"),
        ("offset", pa.int32(), "BIGINT"),
        ("timestamp", pa.timestamp("us"), "TIMESTAMP"),
        ("headers", pa.list_(pa.string()), "ARRAY<"),
        ("headers", pa.string(), "ARRAY<"),
    ],
)
def test_a_column_of_another_type_is_refused(name: str, kind: pa.DataType, expected: str) -> None:
    with pytest.raises(SchemaError) as error:
        check_spark_kafka_schema(pa.schema([(name, kind)]))
    assert str(error.value).startswith(f"column {name!r} is {expected}")
    assert str(error.value).endswith(f"without the option 'format', not {kind}")


STRICT_HEADERS = pa.list_(
    pa.field("element", pa.struct([pa.field("key", pa.string(), False), pa.field("value", pa.binary())]), False)
)


def test_headers_may_be_declared_without_nulls(messages: Make) -> None:
    schema = pa.schema([pa.field("headers", STRICT_HEADERS, nullable=False)])
    check_spark_kafka_schema(schema)
    rows = spark_kafka_columns(schema, messages({"headers": [("h", None)]})).rows
    assert rows.schema == schema
    assert rows.to_pydict() == {"headers": [[{"key": "h", "value": None}]]}
