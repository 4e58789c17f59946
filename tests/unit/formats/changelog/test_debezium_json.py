"""Reading and writing Debezium's messages."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import MessageError, SchemaError
from millrace_formats.changelog.debezium_json import DebeziumJsonFormat, DebeziumOptions
from unit.formats.changelog.reading import SCHEMA, changes, decode, metadata_of, reason

DEBEZIUM = DebeziumJsonFormat()
LENIENT = DebeziumJsonFormat(DebeziumOptions(ignore_parse_errors=True))
WITH_SCHEMAS = DebeziumJsonFormat(DebeziumOptions(schema_include=True))
A, B = {"id": 1, "name": "a", "weight": 0.5}, {"id": 1, "name": "b", "weight": 2}
ROW_A, ROW_B = (1, "a", 0.5), (1, "b", 2.0)
NO_OLD_ROW = (
    "field before: it is null, though the operation is {op!r}, {what}: the database does not send the old row. In "
    "Postgres, run ALTER TABLE ... REPLICA IDENTITY FULL"
)


def change(op: Any, before: Any = None, after: Any = None, **more: Any) -> dict[str, Any]:
    return {"before": before, "after": after, "op": op, **more}


@pytest.mark.parametrize("op", ["c", "r"])
def test_what_is_created_or_read_in_a_snapshot_is_inserted(op: str) -> None:
    assert changes(DEBEZIUM, change(op, after=A)) == [("+I", *ROW_A)]


def test_an_update_is_two_rows() -> None:
    assert changes(DEBEZIUM, change("u", A, B)) == [("-U", *ROW_A), ("+U", *ROW_B)]


def test_a_deletion_is_its_old_row() -> None:
    assert changes(DEBEZIUM, change("d", A)) == [("-D", *ROW_A)]


def test_tombstones_give_no_row_and_no_error() -> None:
    messages = [change("d", A), None, b"", change("c", after=B), None, b"null", b" \n"]
    decoded = decode(DEBEZIUM, *messages)
    assert not decoded.errors
    assert decoded.rows.to_pylist() == [A, B]
    assert decoded.message_index is not None
    assert decoded.message_index.to_pylist() == [0, 3]


@pytest.mark.parametrize(("op", "what"), [("u", "an update"), ("d", "a deletion")])
def test_a_missing_old_row_is_an_error_that_says_what_to_do(op: str, what: str) -> None:
    advice = (
        "For a table with a primary key, 'debezium-json.updates-without-old-row' = 'upsert' reads the new row alone"
    )
    expected = NO_OLD_ROW.format(op=op, what=what) + (f". {advice}" if op == "u" else "")
    assert reason(DEBEZIUM, change(op, None, B)) == expected
    assert reason(DEBEZIUM, {"op": op, "after": B}) == expected
    assert decode(LENIENT, change(op, None, B)).errors == ()


def test_a_missing_new_row_is_an_error() -> None:
    assert reason(DEBEZIUM, change("c")) == "field after: it is null, though the operation is 'c', an insertion"
    assert reason(DEBEZIUM, change("u", A)) == "field after: it is null, though the operation is 'u', an update"


def test_what_the_operation_does_not_need_is_not_looked_at() -> None:
    assert changes(DEBEZIUM, change("c", {"id": "x"}, A), change("d", A, 7)) == [("+I", *ROW_A), ("-D", *ROW_A)]


@pytest.mark.parametrize(("op", "shown"), [("x", '"x"'), ("", '""'), (7, '"7"'), ({"a": "b"}, '{"a": "b"}')])
def test_other_operations_are_errors(op: Any, shown: str) -> None:
    assert reason(DEBEZIUM, change(op, A, A)) == f"field op: expected one of c, r, u, d, t, found {shown}"


def test_a_truncation_is_an_error_that_says_what_to_do() -> None:
    assert reason(DEBEZIUM, change("t")) == (
        "field op: 't' is a truncation, which rows of changes cannot say: read the topic with a pipeline, which "
        "empties the table of its sink"
    )
    assert changes(LENIENT, change("t"), change("c", after=A)) == [("+I", *ROW_A)]


def test_an_old_row_without_columns_is_a_missing_one() -> None:
    hint = "the database does not send the old row"
    for op, what in (("u", "an update"), ("d", "a deletion")):
        found = reason(DEBEZIUM, change(op, {}, B))
        assert found.startswith(f"field before: it has no columns, though the operation is {op!r}, {what}: {hint}")
    assert changes(DEBEZIUM, change("d", {"other": 1}), change("c", after={})) == [
        ("-D", None, None, None),
        ("+I", None, None, None),
    ]


def test_values_that_the_database_did_not_send_are_those_of_the_old_row() -> None:
    schema = pa.schema([("id", pa.int32()), ("numbers", pa.list_(pa.int32())), ("text", pa.string())])
    text = "__debezium_unavailable_value"
    old, new = {"id": 1, "numbers": [1, 2], "text": "a"}, {"id": 1, "numbers": list(text.encode()), "text": text}
    row = (1, [1, 2], "a")
    assert changes(DEBEZIUM, change("u", old, new), schema=schema) == [("-U", *row), ("+U", *row)]
    message = "the database did not send the value"
    assert reason(DEBEZIUM, change("u", {"id": 1}, new), schema).startswith(f"field after.numbers: {message}")
    # Columns that are not read need no value
    only_ids = pa.schema([("id", pa.int32())])
    assert changes(DEBEZIUM, change("u", {"id": 1}, new), schema=only_ids) == [("-U", 1), ("+U", 1)]


def test_documents_of_mongodb_are_refused_with_the_advice_that_helps() -> None:
    source = {"connector": "mongodb", "db": "shop", "collection": "orders"}
    for message in (change("c", after='{"_id": 1}', source=source), change("d", source=source)):
        assert "ExtractNewDocumentState" in reason(DEBEZIUM, message)


def test_a_message_that_does_not_say_what_was_done_is_an_error() -> None:
    expected = (
        "field op: the message has no operation: records that Debezium has flattened are read with the format json; "
        "in a pipeline, json.decode.deletion.field names the field that tells deletions, such as __deleted or __op"
    )
    assert reason(DEBEZIUM, {"after": A}) == expected
    assert reason(DEBEZIUM, change(None, A, A)) == expected


def test_errors_name_the_row_and_the_field() -> None:
    wrong = {"id": 1, "weight": {"kg": 1}}
    expected = '.weight: {"kg":1} cannot be read as DOUBLE: it is an object or array'
    assert reason(DEBEZIUM, change("u", A, wrong)) == f"field after{expected}"
    assert reason(DEBEZIUM, change("u", wrong, A)) == f"field before{expected}"
    assert reason(DEBEZIUM, change("c", after=[A])) == (
        'field after: expected an object, found [{"id":1,"name":"a","weight":0.5}]'
    )


def test_ignoring_errors_keeps_rows_with_null_fields_and_drops_what_is_no_change() -> None:
    wrong = {"id": "x", "name": "a", "weight": 1}
    messages = [change("u", wrong, A), change("x", after=A), b"{", change("c", after=7), change("c", after=wrong)]
    assert changes(LENIENT, *messages) == [("-U", None, "a", 1.0), ("+U", *ROW_A), ("+I", None, "a", 1.0)]


def test_a_null_in_a_not_null_column_is_an_error_even_when_errors_are_ignored() -> None:
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), ("name", pa.string())])
    for made in (DEBEZIUM, LENIENT):
        assert reason(made, change("d", {"name": "a"}), schema) == "field before.id: NULL in a NOT NULL column"


def test_numbers_and_booleans_may_be_text() -> None:
    schema = pa.schema([("i", pa.int64()), ("f", pa.float32()), ("b", pa.bool_()), ("d", pa.decimal128(10, 2))])
    text = {"i": " 7 ", "f": "1e2", "b": "TRUE", "d": "1.005"}
    number = {"i": 8, "f": 0.5, "b": False, "d": 2}
    rows = changes(DEBEZIUM, change("u", text, number), change("c", after=text), schema=schema)
    assert [row[:4] for row in rows] == [("-U", 7, 100.0, True), ("+U", 8, 0.5, False), ("+I", 7, 100.0, True)]
    assert [str(row[4]) for row in rows] == ["1.01", "2.00", "1.01"]


def test_schemas_stand_around_the_payload() -> None:
    messages = [{"schema": {"type": "struct"}, "payload": change("u", A, B)}, None, {"payload": change("d", B)}]
    assert changes(WITH_SCHEMAS, *messages) == [("-U", *ROW_A), ("+U", *ROW_B), ("-D", *ROW_B)]


def test_the_wrong_schema_include_is_named_in_the_error() -> None:
    inside = {"schema": {}, "payload": change("c", after=A)}
    assert reason(DEBEZIUM, inside) == ("the change is in the field payload: set the option schema-include to true")
    assert reason(WITH_SCHEMAS, change("c", after=A)) == (
        "there is no field payload: set the option schema-include to false"
    )
    assert reason(WITH_SCHEMAS, {"payload": None}) == "field payload: expected an object, found null"


SOURCE = {"db": "shop", "schema": "public", "table": "orders", "ts_ms": 1_589_362_330_123, "lsn": 7, "tx": None}


def test_metadata() -> None:
    found = metadata_of(DEBEZIUM, change("c", after=A, source=SOURCE, ts_ms=1_589_362_330_904))
    assert found == {
        "schema": None,
        "ingestion-timestamp": datetime(2020, 5, 13, 9, 32, 10, 904_000, tzinfo=UTC),
        "source.timestamp": datetime(2020, 5, 13, 9, 32, 10, 123_000, tzinfo=UTC),
        "source.database": "shop",
        "source.schema": "public",
        "source.table": "orders",
        "source.properties": [
            ("db", "shop"),
            ("schema", "public"),
            ("table", "orders"),
            ("ts_ms", "1589362330123"),
            ("lsn", "7"),
            ("tx", None),
        ],
    }


def test_metadata_that_a_message_lacks_is_null() -> None:
    assert set(metadata_of(DEBEZIUM, change("c", after=A)).values()) == {None}
    assert set(metadata_of(DEBEZIUM, change("c", after=A, source=None, ts_ms=None)).values()) == {None}


def test_metadata_that_is_not_as_usual_is_read_all_the_same() -> None:
    message = change("c", after=A, source={"table": {"a": [1.50]}, "db": 7, "x": "\u00fc\n"})
    assert metadata_of(DEBEZIUM, message, "source.table", "source.database") == {
        "source.table": '{"a":[1.5]}',
        "source.database": "7",
    }
    assert metadata_of(DEBEZIUM, message, "source.properties", "source.table") == {
        "source.properties": [("table", '{"a":[1.5]}'), ("db", "7"), ("x", "\u00fc\n")],
        "source.table": '{"a":[1.5]}',
    }


def test_metadata_is_in_the_order_that_is_asked_for() -> None:
    message = change("c", after=A, source=SOURCE)
    found = metadata_of(DEBEZIUM, message, "source.table", "source.properties", "source.timestamp", "source.database")
    assert list(found) == ["source.table", "source.properties", "source.timestamp", "source.database"]
    assert (found["source.table"], found["source.database"]) == ("orders", "shop")
    assert found["source.timestamp"] == datetime(2020, 5, 13, 9, 32, 10, 123_000, tzinfo=UTC)


def test_metadata_that_cannot_be_read_is_an_error_or_null() -> None:
    wrong = change("c", after=A, ts_ms="soon", source={"ts_ms": 253_402_300_800_000, "table": "t"})
    errors = decode(DEBEZIUM, wrong, metadata=["ingestion-timestamp"]).errors
    assert errors[0].reason == 'field ts_ms: "soon" cannot be read as BIGINT: not an integer'
    errors = decode(DEBEZIUM, wrong, metadata=["source.timestamp"]).errors
    assert errors[0].reason == "field source.ts_ms: 253402300800000 is not a time: outside the years 0001 to 9999"
    assert decode(DEBEZIUM, wrong, metadata=["source.table"]).errors == ()
    keys = ("ingestion-timestamp", "source.timestamp", "source.table")
    assert metadata_of(LENIENT, wrong, *keys) == dict(zip(keys, (None, None, "t"), strict=True))


def test_the_schema_is_read_as_compact_text() -> None:
    message = b'{"schema": {"a" : [1, 2.50], "\\u00fc": null}, "payload": {"op": "c", "after": {}}}'
    assert metadata_of(WITH_SCHEMAS, message, "schema") == {"schema": '{"a":[1,2.50],"ü":null}'}


def test_each_half_of_an_update_is_a_message_of_its_own() -> None:
    rows = pa.record_batch([[1, 2, 3, 4], ["a", None, "c", "d"], [0.5, 1, 1e10, 2]], schema=SCHEMA)
    encoded = DEBEZIUM.encoder(SCHEMA).encode(rows, pa.array(["+I", "-U", "+U", "-D"]))
    assert list(encoded.to_list()) == [
        b'{"before":null,"after":{"id":1,"name":"a","weight":0.5},"op":"c"}',
        b'{"before":{"id":2,"name":null,"weight":1.0},"after":null,"op":"d"}',
        b'{"before":null,"after":{"id":3,"name":"c","weight":1.0e10},"op":"c"}',
        b'{"before":{"id":4,"name":"d","weight":2.0},"after":null,"op":"d"}',
    ]


def test_null_fields_are_left_out_of_the_message_too() -> None:
    made = DebeziumJsonFormat(DebeziumOptions(ignore_null_fields=True))
    rows = pa.record_batch([[1, 2], [None, None], [None, None]], schema=SCHEMA)
    encoded = made.encoder(SCHEMA).encode(rows, pa.array(["+I", "-D"]))
    assert list(encoded.to_list()) == [b'{"after":{"id":1},"op":"c"}', b'{"before":{"id":2},"op":"d"}']


def test_an_unknown_row_kind_is_an_error_that_names_the_row() -> None:
    rows = pa.record_batch([[1, 2], ["a", "b"], [0, 0]], schema=SCHEMA)
    with pytest.raises(MessageError) as error:
        DEBEZIUM.encoder(SCHEMA).encode(rows, pa.array(["+I", "I"]))
    assert str(error.value) == "row 1: expected a row kind of +I, -U, +U, -D, found 'I'"


def test_schemas_are_not_written() -> None:
    with pytest.raises(SchemaError, match="set its option schema-include to false"):
        WITH_SCHEMAS.encoder(SCHEMA)


@pytest.mark.parametrize("ignore", [False, True])
def test_huge_and_deep_messages_are_errors_or_rows_and_end_nothing(ignore: bool) -> None:
    made = LENIENT if ignore else DEBEZIUM
    deep = b'{"op":"c","after":{"name":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}}"
    huge = b'{"op":"c","after":{"name":"' + b"x" * 50_000_000 + b'"}}'
    many = b'{"op":"c","after":{"id":' + b"9" * 1_000_000 + b"}}"
    decoded = decode(made, deep, huge, many)
    assert [error.index for error in decoded.errors] == ([] if ignore else [0, 2])
    names = decoded.rows.column("name").to_pylist()
    assert [None if name is None else len(name) for name in names] == ([50_000_000, None] if ignore else [50_000_000])


def test_json_text_is_kept_in_a_string_column() -> None:
    after = {"name": {"b": [1, "x"], "a": 2.50}}
    message = b'{"op":"c","after":' + json.dumps(after).encode() + b"}"
    assert changes(DEBEZIUM, message) == [("+I", None, '{"b":[1,"x"],"a":2.5}', None)]
