from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from millrace.contracts import HEADERS
from millrace.errors import MessageError
from millrace.records.producer_records import ProducerRecords
from millrace.records.trace_context import EXPECTED
from millrace.sink.writer.record_builder import ColumnSerializer, RecordBuilder
from millrace.sink.writer.topic_routing import TopicRows

MAP = pa.map_(pa.string(), pa.binary())


def records_with(key: str, column: pa.Array) -> ProducerRecords:
    """Records whose metadata of one key is a column."""
    rows = pa.record_batch({"c": column, "v": pa.array([b"v"] * len(column))})
    keys = ColumnSerializer("c") if key == "__raw_key__" else None
    return build(RecordBuilder(to_orders, ColumnSerializer("v"), keys, {key: "c"}), rows)


def to_orders(_: pa.RecordBatch) -> list[TopicRows]:
    return [TopicRows("orders")]


def build(builder: RecordBuilder, rows: pa.RecordBatch) -> ProducerRecords:
    (records,) = builder.build(rows)
    return records


def header_list(*rows: Any) -> pa.Array:
    return pa.array(
        [None if row is None else [{"key": key, "value": value} for key, value in row] for row in rows], HEADERS
    )


def test_records_without_metadata_are_their_values() -> None:
    rows = pa.record_batch({"v": pa.array([b"a", None])})
    found = build(RecordBuilder(to_orders, ColumnSerializer("v"), None, {}), rows)
    assert (found.topic, list(found.values.to_list()), found.is_values_only) == ("orders", [b"a", None], True)
    assert found.partitions is None


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()])
def test_keys_are_bytes_or_text_and_null_is_not_empty(kind: pa.DataType) -> None:
    found = records_with("__raw_key__", pa.array([b"k", b"", None]).cast(kind))
    assert list(found.keys.to_list()) == [b"k", b"", None]
    assert not found.is_values_only


def test_header_lists_keep_their_order_repeats_nulls_and_empty_values() -> None:
    headers = [("b", b"1"), ("a", None), ("b", b""), ("ü", b"2")]
    assert records_with("header-list", header_list(headers, None, [], [("x", b"y")])).headers == [
        headers,
        [],
        [],
        [("x", b"y")],
    ]


def test_a_header_map_is_written_in_its_order() -> None:
    column = pa.array([[("b", b"1"), ("a", None)], None, [], [("c", b"")]], MAP)
    assert records_with("headers", column).headers == [[("b", b"1"), ("a", None)], [], [], [("c", b"")]]


@pytest.mark.parametrize("key", ["headers", "header-list"])
def test_headers_of_a_part_of_a_batch_are_those_of_its_rows(key: str) -> None:
    headers = [[("a", b"1")], None, [("b", b"2"), ("c", b"3")], [("d", b"4")]]
    column = header_list(*headers) if key == "header-list" else pa.array(headers, MAP)
    assert records_with(key, column.slice(1, 2)).headers == [[], [("b", b"2"), ("c", b"3")]]
    assert records_with(key, column.take(pa.array([3, 1, 0]))).headers == [[("d", b"4")], [], [("a", b"1")]]
    assert records_with(key, column.slice(0, 0)).headers == []


def test_headers_that_are_declared_without_nulls_are_taken() -> None:
    header = pa.struct([pa.field("key", pa.string(), False), pa.field("value", pa.binary(), False)])
    strict = pa.array([[{"key": "a", "value": b"1"}]], pa.list_(pa.field("element", header, False)))
    assert records_with("header-list", strict).headers == [[("a", b"1")]]


def test_traces_are_headers() -> None:
    assert records_with("traceparent", pa.array([EXPECTED, None])).headers == [[("traceparent", EXPECTED.encode())], []]
    assert records_with("traceparent", pa.array([], pa.string())).headers == []


def test_a_trace_replaces_the_header_of_its_name() -> None:
    old = [("a", b"1"), ("traceparent", b"old")]
    columns = {"h": header_list(old, old), "t": pa.array([EXPECTED, None]), "v": pa.array([b"v", b"v"])}
    metadata = {"header-list": "h", "traceparent": "t"}
    records = build(RecordBuilder(to_orders, ColumnSerializer("v"), None, metadata), pa.record_batch(columns))
    assert records.headers == [[("a", b"1"), ("traceparent", EXPECTED.encode())], old]


def test_a_text_that_is_no_trace_names_its_row() -> None:
    with pytest.raises(MessageError) as error:
        records_with("traceparent", pa.array([None, "0af7"]))
    assert str(error.value) == (
        f"column 'c', row 1: '0af7' is no value of the header 'traceparent', such as {EXPECTED}; a record whose trace "
        f"is NULL gets none"
    )


@pytest.mark.parametrize("header", [None, {"key": None, "value": b"1"}])
def test_a_header_without_a_key_names_the_column(header: object) -> None:
    with pytest.raises(MessageError) as error:
        records_with("header-list", pa.array([[], [header]], HEADERS))
    assert str(error.value) == "column 'c' has a header without a key; every header needs one"


def test_partitions_remember_their_column() -> None:
    found = records_with("partition", pa.array([1, None], pa.int32()))
    assert (found.partitions.to_pylist(), found.partition_column) == ([1, None], "c")


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_timestamps_become_milliseconds_whatever_their_zone(zone: str) -> None:
    column = pa.array([1_700_000_000_123_999, None, 1_000], pa.timestamp("us", zone))
    assert records_with("timestamp", column).timestamps.to_pylist() == [1_700_000_000_123, None, 1]


def test_a_number_is_milliseconds_as_it_is() -> None:
    assert records_with("timestamp", pa.array([1_700_000_000_123, None])).timestamps.to_pylist() == [
        1_700_000_000_123,
        None,
    ]


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        (pa.array([5, 0]), 0),
        (pa.array([-1, None]), -1),
        (pa.array([0], pa.timestamp("us", "UTC")), 0),
        (pa.array([999], pa.timestamp("us", "UTC")), 0),
        (pa.array([-86_400_000_000], pa.timestamp("us", "UTC")), -86_400_000),
    ],
)
def test_a_timestamp_that_the_client_would_take_for_now_is_refused(column: pa.Array, shown: int) -> None:
    with pytest.raises(MessageError) as error:
        records_with("timestamp", column)
    assert str(error.value) == (
        f"column 'c' has the timestamp {shown} (ms since 1970 UTC), but a record's timestamp must be above 0; a record "
        f"whose timestamp is NULL gets the time of writing"
    )
