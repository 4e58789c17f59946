from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from millrace.contracts import Decoded
from millrace.errors import MessageError, SchemaError
from millrace.options.metadata import METADATA_KEYS, parse_metadata_columns
from millrace.source.fetch import Messages
from millrace.source.metadata import COLUMNS, metadata_fields, value_schema, with_metadata

Make = Callable[..., Messages]
ID = pa.field("id", pa.int64())


def test_every_key_of_the_option_has_a_column() -> None:
    assert tuple(COLUMNS) == METADATA_KEYS


def test_the_format_gets_what_is_not_metadata() -> None:
    chosen = parse_metadata_columns("offset AS at, topic")
    assert value_schema(pa.schema([*metadata_fields(chosen), ID]), chosen) == pa.schema([ID])


def test_a_metadata_column_that_the_schema_lacks_is_told_with_its_type() -> None:
    with pytest.raises(SchemaError, match=r"names column 'at', which the schema lacks: add at TIMESTAMP$"):
        value_schema(pa.schema([ID]), parse_metadata_columns("timestamp AS at"))


def test_a_metadata_column_of_another_type_is_told() -> None:
    with pytest.raises(SchemaError, match=r"metadata column 'id' \(partition\) is INT, not int64"):
        value_schema(pa.schema([ID]), parse_metadata_columns("partition AS id"))


def test_a_message_shows_all_that_it_has(messages: Make) -> None:
    chosen = parse_metadata_columns(",".join(METADATA_KEYS))
    schema = pa.schema([*metadata_fields(chosen), ID])
    one = messages({"key": b"k", "value": b"v", "headers": [("a", b"1"), ("b", None), ("a", b"2")]})

    (row,) = with_metadata(schema, chosen, one, Decoded(pa.record_batch({"id": [7]}))).to_pylist()

    assert (row["id"], row["topic"], row["partition"], row["offset"]) == (7, "orders", 3, 100)
    assert (row["__raw_key__"], row["__raw_value__"]) == (b"k", b"v")
    assert row["headers"] == [("a", b"2"), ("b", None)]
    assert [tuple(header.values()) for header in row["header-list"]] == [("a", b"1"), ("b", None), ("a", b"2")]
    assert row["timestamp-type"] in ("NoTimestampType", "CreateTime", "LogAppendTime")


def test_every_row_has_the_metadata_of_its_message(messages: Make) -> None:
    chosen = parse_metadata_columns("offset")
    decoded = Decoded(pa.record_batch({"id": [1, 2, 3]}), pa.array([0, 0, 2], pa.int32()))

    rows = with_metadata(pa.schema([ID, *metadata_fields(chosen)]), chosen, messages({}, {}, {}), decoded)

    assert rows.to_pydict() == {"id": [1, 2, 3], "offset": [100, 100, 102]}


def test_a_null_in_a_column_that_is_not_null_is_told_with_its_place(messages: Make) -> None:
    chosen = parse_metadata_columns("__raw_key__ AS k")
    schema = pa.schema([pa.field("k", pa.binary(), nullable=False)])

    with pytest.raises(MessageError, match=r"^orders-3, offset 101: null in column 'k', which is NOT NULL$"):
        with_metadata(schema, chosen, messages({"key": b"k"}, {"key": None}), Decoded(pa.record_batch({"id": [1, 2]})))
