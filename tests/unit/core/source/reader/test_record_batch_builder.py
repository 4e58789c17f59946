"""Rows of good messages, and malformed messages singled out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from millrace.configuration.build import configure_source
from millrace.errors import SchemaChangedError
from millrace.records.messages import Messages
from millrace.source.reader.decoding_plan import record_batch_builder_for
from millrace.source.reader.record_batch_builder import BuiltBatch

Make = Callable[..., Messages]
ID = pa.schema([("id", pa.int64())])
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
KEYED = {"key.format": "json", "key.fields": "id", "value.fields-include": "EXCEPT_KEY"}


def rows(read: Messages, schema: pa.Schema = SCHEMA, **options: str) -> BuiltBatch:
    given = {"properties.bootstrap.servers": "h:1", "value.format": "json", **options}
    made = record_batch_builder_for(configure_source(given), schema)(read)
    made.batch.validate(full=True)
    assert made.batch.schema == schema
    return made


def told(found: BuiltBatch) -> list[tuple[Any, ...]]:
    """Offset, part, format and the option that lets a message pass."""
    return [
        (bad.message.offset(), "key" if bad.is_key else "value", bad.format, bad.lenient_option)
        for bad in found.malformed
    ]


def ids(found: BuiltBatch) -> list[int]:
    return found.batch.column("id").to_pylist()


def values(messages: Make, *texts: bytes | None) -> Messages:
    return messages(*({"value": text} for text in texts))


def test_without_malformed_messages_nothing_is_told(messages: Make) -> None:
    assert rows(values(messages, b'{"id":1}', None, b'{"id":2}'), ID).malformed == ()


def test_malformed_messages_are_told_and_the_others_have_their_rows(messages: Make) -> None:
    found = rows(values(messages, b"{oops", b'{"id":1}', b"\xff", None, b'{"id":2}'), ID)
    assert ids(found) == [1, 2]
    assert told(found) == [
        (100, "value", "json", "json.ignore-parse-errors"),
        (102, "value", "json", "json.ignore-parse-errors"),
    ]


def test_a_batch_may_have_none_but_malformed_messages(messages: Make) -> None:
    found = rows(values(messages, b"{", b"}"), ID)
    assert (found.batch.num_rows, len(found.malformed)) == (0, 2)


def test_good_messages_keep_their_metadata(messages: Make) -> None:
    read = messages({"value": b"{", "key": b"a"}, {"value": b'{"id":1}', "key": b"b"}, {"value": b"", "key": b"c"})
    schema = pa.schema([("offset", pa.int64()), *ID, ("k", pa.binary())])
    found = rows(read, schema, **{"metadata.columns": "offset, __raw_key__ AS k"})
    assert found.batch.to_pylist() == [{"offset": 101, "id": 1, "k": b"b"}]


def test_metadata_that_its_declared_column_cannot_hold_makes_a_message_malformed(messages: Make) -> None:
    read = messages({"value": b"{", "key": b"a"}, {"value": b'{"id":1}', "key": b"\xff"}, {"value": b'{"id":2}'})
    schema = pa.schema([pa.field("p", pa.int64(), nullable=False), *ID, ("k", pa.string())])
    found = rows(read, schema, **{"metadata.columns": "partition AS p, __raw_key__ AS k"})
    assert found.batch.to_pylist() == [{"p": 3, "id": 2, "k": None}]
    assert [bad.reason for bad in found.malformed][1:] == ["its __raw_key__ does not fit column 'k', which is STRING"]
    assert str(found.malformed[1]) == (
        "malformed key in topic 'orders', partition 3, offset 101: its __raw_key__ does not fit column 'k', which is "
        "STRING. It begins with '\\xff'"
    )


def test_a_malformed_key_costs_the_row_of_its_value(messages: Make) -> None:
    read = messages(
        {"key": b'{"id":1}', "value": b'{"name":"a"}'},
        {"key": b"{oops", "value": b'{"name":"b"}'},
        {"key": None, "value": b'{"name":"c"}'},
        {"key": b"{oops", "value": None},
        {"key": b'{"id":5}', "value": b"{oops"},
        {"key": b'{"id":6}', "value": b'{"name":"f"}'},
    )
    schema = pa.schema([*SCHEMA, ("offset", pa.int64())])
    found = rows(read, schema, **KEYED, **{"metadata.columns": "offset"})
    assert [tuple(row.values()) for row in found.batch.to_pylist()] == [(1, "a", 100), (None, "c", 102), (6, "f", 105)]
    assert told(found) == [
        (101, "key", "json", "key.json.ignore-parse-errors"),
        (103, "key", "json", "key.json.ignore-parse-errors"),
        (104, "value", "json", "json.ignore-parse-errors"),
    ]


@pytest.mark.parametrize("include", ["ALL", "EXCEPT_KEY"])
def test_a_message_that_is_malformed_twice_is_one(messages: Make, include: str) -> None:
    keyed = {**KEYED, "value.fields-include": include}
    found = rows(messages({"key": b"{oops", "value": b"{oops"}), **keyed)
    assert told(found) == [(100, "key", "json", "key.json.ignore-parse-errors")]


@pytest.mark.parametrize("bad_key", [True, False])
def test_all_rows_of_a_change_go_with_their_message(messages: Make, bad_key: bool) -> None:
    update = json.dumps({"op": "u", "before": {"name": "a"}, "after": {"name": "b"}}).encode()
    read = messages(
        {"key": b'{"id":1}', "value": update},
        {"key": b"{oops" if bad_key else b'{"id":2}', "value": update if bad_key else b'{"op":"?"}'},
        {"key": b'{"id":3}', "value": update},
    )
    schema = pa.schema([("row_kind", pa.string()), *SCHEMA])
    found = rows(read, schema, **{"value.format": "debezium-json"}, **KEYED)
    assert [tuple(row.values()) for row in found.batch.to_pylist()] == [
        ("-U", 1, "a"),
        ("+U", 1, "b"),
        ("-U", 3, "a"),
        ("+U", 3, "b"),
    ]
    assert [bad.message.offset() for bad in found.malformed] == [101]


def test_a_column_that_is_not_null_makes_a_message_without_it_malformed(messages: Make) -> None:
    read = messages(
        {"key": b'{"id":1}', "value": b'{"name":"a"}', "headers": None},
        {"key": None, "value": b'{"name":"b"}'},
        {"key": b"{oops", "value": b'{"name":"c"}'},
        {"key": None, "value": None},
    )
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), ("name", pa.string())])
    found = rows(read, schema, **KEYED)
    assert found.batch.to_pylist() == [{"id": 1, "name": "a"}]
    # The last message gives no row at all
    assert [(bad.message.offset(), bad.is_key) for bad in found.malformed] == [(101, True), (102, True)]
    assert str(found.malformed[0]) == (
        "malformed key in topic 'orders', partition 3, offset 101: null in column 'id', which is NOT NULL. It is null"
    )
    assert found.malformed[0].lenient_option is None


def test_so_does_metadata_that_is_missing(messages: Make) -> None:
    read = messages({"value": b'{"id":1}', "key": b"k"}, {"value": b'{"id":2}'}, {"value": b'{"id":3}', "key": b"l"})
    schema = pa.schema([*ID, pa.field("k", pa.binary(), nullable=False)])
    found = rows(read, schema, **{"metadata.columns": "__raw_key__ AS k"})
    assert ids(found) == [1, 3]
    assert told(found) == [(101, "value", "json", None)]
    assert found.malformed[0].reason == "null in column 'k', which is NOT NULL"


def test_so_does_what_a_format_of_changes_does_not_tell(messages: Make) -> None:
    image = {"before": {"id": 1}, "after": {"id": 2}, "op": "u"}
    read = values(messages, json.dumps(image).encode(), json.dumps({**image, "source": {"table": "t"}}).encode())
    table = pa.field("t", pa.string(), nullable=False)
    schema = pa.schema([("row_kind", pa.string()), *ID, table])
    found = rows(read, schema, **{"value.format": "debezium-json", "metadata.columns": "value.source.table AS t"})
    assert ids(found) == [1, 2]
    assert found.batch.column("t").to_pylist() == ["t", "t"]
    assert told(found) == [(100, "value", "debezium-json", None)]


def test_without_a_format_a_column_that_is_not_null_is_checked_too(messages: Make) -> None:
    schema = pa.schema([pa.field("value", pa.binary(), nullable=False), ("offset", pa.int64())])
    config = configure_source({"properties.bootstrap.servers": "h:1"})
    found = record_batch_builder_for(config, schema)(values(messages, b"a", None))
    assert found.batch.column("offset").to_pylist() == [100]
    assert str(found.malformed[0]).endswith("offset 101: null in column 'value', which is NOT NULL. It is null")


def test_a_message_that_does_not_fit_columns_that_follow_is_named(messages: Make) -> None:
    options = {"value.format": "json-evolving", "json-evolving.columns": "id BIGINT"}
    with pytest.raises(
        SchemaChangedError, match=r"the message in topic 'orders', .*, offset 101 does not fit .*: id is"
    ):
        rows(values(messages, b'{"id":1}', b'{"id":true}'), ID, **options)
    keyed = {**KEYED, "value.format": "json-evolving", "json-evolving.columns": "name STRING"}
    keyed |= {"key.format": "json-evolving", "key.json-evolving.columns": "id BIGINT"}
    with pytest.raises(SchemaChangedError, match=r"the key in topic .*, offset 100 does not fit the columns: k BIGINT"):
        rows(messages({"key": b'{"k":1}', "value": b"{"}), **keyed)
