from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import HEADERS
from millrace.errors import MessageError, SchemaError
from millrace.sink.kafka_columns import check_kafka_columns, records_of

ALL = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("headers", HEADERS),
    ]
)


def rows(**columns: pa.Array) -> pa.RecordBatch:
    return pa.record_batch(columns)


def refused(fields: list[tuple[str, pa.DataType]], *topics: str) -> str:
    with pytest.raises(SchemaError) as error:
        check_kafka_columns(pa.schema(fields), topics)
    return str(error.value)


def test_all_columns_are_accepted() -> None:
    check_kafka_columns(ALL, ())
    check_kafka_columns(ALL, ("orders",))


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_keys_and_values_are_text_or_bytes(kind: pa.DataType) -> None:
    check_kafka_columns(pa.schema([("key", kind), ("value", kind)]), ("orders",))


def test_an_unknown_column_is_refused() -> None:
    assert refused([("id", pa.int64()), ("value", pa.binary())], "orders") == (
        "column 'id' cannot be written: without the option 'format' the columns are key, value, topic, partition, "
        "headers. Give a format, such as 'json', or select these"
    )


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("key", pa.int64(), "STRING or BINARY"),
        ("value", pa.struct([]), "STRING or BINARY"),
        ("topic", pa.binary(), "STRING"),
        ("partition", pa.int64(), "INT"),
        ("headers", pa.string(), "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
        ("headers", pa.list_(pa.string()), "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
    ],
)
def test_a_column_of_another_type_is_refused(name: str, kind: pa.DataType, expected: str) -> None:
    assert refused([(name, kind)], "orders") == (
        f"column {name!r} must be {expected} without the option 'format', not {kind}"
    )


def test_headers_may_be_declared_without_nulls() -> None:
    header = pa.struct([pa.field("key", pa.string(), False), pa.field("value", pa.binary(), False)])
    strict = pa.list_(pa.field("element", header, False))
    check_kafka_columns(pa.schema([("value", pa.binary()), pa.field("headers", strict, False)]), ("orders",))


def test_a_column_value_is_required() -> None:
    assert refused([("key", pa.binary())], "orders") == "a column 'value' is required without the option 'format'"


def test_the_topic_must_come_from_somewhere() -> None:
    assert refused([("value", pa.binary())]) == (
        "give the option 'topic', or a column 'topic' that names each row's topic"
    )


def test_the_topic_of_the_option_takes_all_rows() -> None:
    (found,) = records_of(rows(value=pa.array([b"a", b"b"])), ("orders",))
    assert (found.topic, list(found.values.to_list())) == ("orders", [b"a", b"b"])
    assert (found.keys, found.headers, found.partitions) == (None, None, None)


def test_the_topic_of_the_option_wins_over_the_column() -> None:
    (found,) = records_of(rows(value=pa.array([b"a", b"b"]), topic=pa.array(["x", None])), ("orders",))
    assert (found.topic, len(found)) == ("orders", 2)


def test_rows_go_to_the_topics_that_they_name_each_with_all_of_its_columns() -> None:
    batch = rows(
        key=pa.array([b"1", None, b"3"]),
        value=pa.array([b"a", b"b", None]),
        topic=pa.array(["x", "y", "x"]),
        partition=pa.array([0, None, 2], pa.int32()),
        headers=pa.array([[{"key": "h", "value": b"1"}], [], None], HEADERS),
    )
    x, y = records_of(batch, ())
    assert (x.topic, list(x.values.to_list()), list(x.keys.to_list())) == ("x", [b"a", None], [b"1", b"3"])
    assert (x.headers, x.partitions.to_pylist()) == ([[("h", b"1")], None], [0, 2])
    assert (y.topic, list(y.values.to_list()), list(y.keys.to_list())) == ("y", [b"b"], [None])
    assert (y.headers, y.partitions.to_pylist()) == ([[]], [None])


def test_a_row_without_a_topic_is_an_error() -> None:
    with pytest.raises(MessageError) as error:
        list(records_of(rows(value=pa.array([b"a", b"b"]), topic=pa.array(["x", None])), ()))
    assert str(error.value) == "a row has no topic: its column 'topic' is NULL and the option 'topic' is not given"


def test_no_rows_are_no_records() -> None:
    assert list(records_of(rows(value=pa.array([], pa.binary()), topic=pa.array([], pa.string())), ())) == []


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.large_binary()])
def test_text_is_written_as_utf8(kind: pa.DataType) -> None:
    text = pa.array(["ü", None]).cast(kind)
    (found,) = records_of(rows(value=text, key=text), ("orders",))
    assert list(found.values.to_list()) == list(found.keys.to_list()) == ["ü".encode(), None]


def test_headers_keep_their_order_and_repeats_and_null_values() -> None:
    headers = [[{"key": "b", "value": b"1"}, {"key": "a", "value": None}, {"key": "b", "value": b"2"}]]
    (found,) = records_of(rows(value=pa.array([b"v"]), headers=pa.array(headers, HEADERS)), ("orders",))
    assert found.headers == [[("b", b"1"), ("a", None), ("b", b"2")]]


@pytest.mark.parametrize("header", [None, {"key": None, "value": b"1"}])
def test_a_header_without_a_key_is_an_error(header: object) -> None:
    batch = rows(value=pa.array([b"v"]), headers=pa.array([[header]], HEADERS))
    with pytest.raises(MessageError, match="column 'headers'"):
        list(records_of(batch, ("orders",)))
