from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from millrace.contracts import Decoded
from millrace.errors import SchemaError
from millrace.options.metadata import METADATA_KEYS, parse_metadata_columns
from millrace.records.messages import Messages
from millrace.records.metadata_columns import _COLUMNS, Misfit, metadata_columns, metadata_fields, without_metadata

Make = Callable[..., Messages]
ID = pa.field("id", pa.int64())
TOLD = {"table": pa.string(), "keys": pa.list_(pa.string()), "at": pa.timestamp("us", "UTC")}


def test_every_key_of_the_option_has_a_column() -> None:
    assert tuple(_COLUMNS) == METADATA_KEYS


def test_the_format_gets_what_is_not_metadata() -> None:
    chosen = parse_metadata_columns("offset AS at, topic")
    assert without_metadata(pa.schema([*metadata_fields(chosen, TOLD), ID]), chosen, TOLD) == pa.schema([ID])


def test_a_metadata_column_that_the_schema_lacks_is_told_with_its_type() -> None:
    with pytest.raises(SchemaError, match=r"names column 'at', which the schema lacks: add at TIMESTAMP$"):
        without_metadata(pa.schema([ID]), parse_metadata_columns("timestamp AS at"), TOLD)


def test_a_metadata_column_of_another_type_is_told() -> None:
    with pytest.raises(SchemaError, match=r"column 'id' \(partition\) is INT or another integer type, not string"):
        without_metadata(pa.schema([("id", pa.string())]), parse_metadata_columns("partition AS id"), TOLD)


@pytest.mark.parametrize(
    ("key", "declared", "expected"),
    [
        ("partition", pa.int64(), 3),
        ("partition", pa.int8(), 3),
        ("offset", pa.int32(), 100),
        ("timestamp", pa.int64(), 1_000),
        ("__raw_key__", pa.string(), "käse"),
        ("__raw_value__", pa.string(), "v"),
        ("value.at", pa.int64(), 1_500),
    ],
)
def test_a_column_has_the_type_that_is_declared_for_it(
    messages: Make, key: str, declared: pa.DataType, expected: object
) -> None:
    chosen = parse_metadata_columns(f"{key} AS m")
    schema = pa.schema([ID, pa.field("m", declared, nullable=False)])
    assert without_metadata(schema, chosen, TOLD) == pa.schema([ID])
    told = pa.record_batch({"at": pa.array([1_500_000], pa.timestamp("us", "UTC"))})
    decoded = Decoded(pa.record_batch({"id": [1]}), metadata=told)

    made = metadata_columns(schema, chosen, messages({"key": "käse".encode(), "value": b"v"}), decoded)

    assert made.arrays["m"].type == declared
    assert made.arrays["m"].to_pylist() == [expected]
    assert made.misfits == {}


def test_values_that_do_not_fit_are_null_and_singled_out(messages: Make) -> None:
    chosen = parse_metadata_columns("__raw_key__ AS k, offset AS o")
    schema = pa.schema([("k", pa.string()), ("o", pa.int8())])
    read = messages(*({"key": key} for key in (b"a", b"\xff", None, b"\xfe", b"b")))
    decoded = Decoded(pa.record_batch({"id": [0, 1, 2, 3, 4]}))

    made = metadata_columns(schema, chosen, read, decoded)

    assert made.arrays["k"].to_pylist() == ["a", None, None, None, "b"]
    assert made.arrays["o"].to_pylist() == [100, 101, 102, 103, 104]
    misfit = Misfit("its __raw_key__ does not fit column 'k', which is STRING", is_key=True)
    assert made.misfits == {1: misfit, 3: misfit}


TEXT_MAP = pa.map_(pa.string(), pa.string())
TEXT_LIST = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))


def test_headers_are_text_where_they_are_declared_so(messages: Make) -> None:
    chosen = parse_metadata_columns("headers AS m, header-list AS l")
    schema = pa.schema([("m", TEXT_MAP), ("l", TEXT_LIST)])
    assert without_metadata(schema, chosen, {}) == pa.schema([])
    read = messages(*({"headers": headers} for headers in ([("a", b"1"), ("b", None)], [("a", b"\xff")], [])))

    made = metadata_columns(schema, chosen, read, Decoded(pa.record_batch({"id": [0, 1, 2]})))

    assert made.arrays["m"].to_pylist() == [[("a", "1"), ("b", None)], None, []]
    first = [{"key": "a", "value": "1"}, {"key": "b", "value": None}]
    assert made.arrays["l"].to_pylist() == [first, None, []]
    reason = "its headers does not fit column 'm', which is MAP<STRING,STRING>"
    assert made.misfits == {1: Misfit(reason, is_key=False)}


@pytest.mark.parametrize(
    ("key", "declared", "expected"),
    [
        ("headers", pa.map_(pa.string(), pa.int32()), "MAP<STRING, BINARY> or MAP<STRING, STRING>"),
        ("header-list", pa.list_(pa.string()), "ARRAY<STRUCT<key: STRING, value: BINARY>> or ARRAY<STRUCT<key"),
    ],
)
def test_headers_of_another_type_are_told(key: str, declared: pa.DataType, expected: str) -> None:
    with pytest.raises(SchemaError) as raised:
        without_metadata(pa.schema([("h", declared)]), parse_metadata_columns(f"{key} AS h"), {})
    assert f"metadata column 'h' ({key}) is {expected}" in str(raised.value)


def test_what_the_format_tells_is_a_column_too() -> None:
    chosen = parse_metadata_columns("value.table AS t, value.keys, offset")
    fields = metadata_fields(chosen, TOLD)
    assert [(field.name, field.type) for field in fields] == [
        ("t", pa.string()),
        ("value.keys", pa.list_(pa.string())),
        ("offset", pa.int64()),
    ]
    assert without_metadata(pa.schema([*fields, ID]), chosen, TOLD) == pa.schema([ID])


@pytest.mark.parametrize(("key", "expected"), [("table", "STRING"), ("keys", "ARRAY<STRING>"), ("at", "TIMESTAMP")])
def test_a_column_of_the_formats_metadata_is_told_with_its_type(key: str, expected: str) -> None:
    chosen = parse_metadata_columns(f"value.{key} AS m")
    with pytest.raises(SchemaError, match=f"names column 'm', which the schema lacks: add m {expected}$"):
        without_metadata(pa.schema([ID]), chosen, TOLD)
    with pytest.raises(SchemaError, match=rf"metadata column 'm' \(value.{key}\) is {expected}.*, not bool$"):
        without_metadata(pa.schema([("m", pa.bool_())]), chosen, TOLD)


def test_a_message_shows_all_that_it_has(messages: Make) -> None:
    chosen = parse_metadata_columns(",".join(METADATA_KEYS))
    schema = pa.schema([*metadata_fields(chosen, TOLD), ID])
    one = messages({"key": b"k", "value": b"v", "headers": [("a", b"1"), ("b", None), ("a", b"2")]})

    made = metadata_columns(schema, chosen, one, Decoded(pa.record_batch({"id": [7]}))).arrays
    row = {name: column.to_pylist()[0] for name, column in made.items()}

    assert (row["topic"], row["partition"], row["offset"]) == ("orders", 3, 100)
    assert (row["__raw_key__"], row["__raw_value__"]) == (b"k", b"v")
    assert row["headers"] == [("a", b"2"), ("b", None)]
    assert [tuple(header.values()) for header in row["header-list"]] == [("a", b"1"), ("b", None), ("a", b"2")]
    assert row["traceparent"] is None
    assert row["timestamp-type"] in ("NoTimestampType", "CreateTime", "LogAppendTime")


def test_every_row_has_the_metadata_of_its_message(messages: Make) -> None:
    chosen = parse_metadata_columns("offset, value.table AS t, value.table AS again")
    told = pa.record_batch({"table": ["a", "a", "b"]})
    decoded = Decoded(pa.record_batch({"id": [1, 2, 3]}), pa.array([0, 0, 2], pa.int32()), metadata=told)
    schema = pa.schema([ID, *metadata_fields(chosen, TOLD)])

    made = metadata_columns(schema, chosen, messages({}, {}, {}), decoded).arrays

    assert {name: column.to_pylist() for name, column in made.items()} == {
        "offset": [100, 100, 102],
        "t": ["a", "a", "b"],
        "again": ["a", "a", "b"],
    }
