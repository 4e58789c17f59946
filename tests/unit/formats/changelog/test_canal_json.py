"""Reading and writing Canal's messages."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from millrace_formats.changelog.canal_json import CanalJsonFormat, CanalOptions, parse_pattern
from millrace_formats.changelog.decoder import all_columns
from millrace_formats.changelog.fast_reader import FastChangeReader
from unit.formats.changelog.reading import SCHEMA, changes, decode, metadata_of, reason

CANAL = CanalJsonFormat()
LENIENT = CanalJsonFormat(CanalOptions(ignore_parse_errors=True))
A, B = {"id": "1", "name": "a", "weight": "0.5"}, {"id": "2", "name": "b", "weight": "2"}
ROW_A, ROW_B = (1, "a", 0.5), (2, "b", 2.0)


def change(type_: Any, data: Any, old: Any = None, **more: Any) -> dict[str, Any]:
    return {"data": data, "old": old, "type": type_, "isDdl": False, **more}


def test_a_message_may_have_several_rows() -> None:
    assert changes(CANAL, change("INSERT", [A, B]), change("DELETE", [B, A, A])) == [
        ("+I", *ROW_A),
        ("+I", *ROW_B),
        ("-D", *ROW_B),
        ("-D", *ROW_A),
        ("-D", *ROW_A),
    ]


def test_an_update_has_only_the_old_values_that_changed() -> None:
    assert changes(CANAL, change("UPDATE", [A, B], [{"name": "x"}, {"weight": "7", "id": "3"}])) == [
        ("-U", 1, "x", 0.5),
        ("+U", *ROW_A),
        ("-U", 3, "b", 7.0),
        ("+U", *ROW_B),
    ]


def test_a_null_in_old_was_null_before() -> None:
    message = change("UPDATE", [A], [{"name": None, "weight": None}])
    assert changes(CANAL, message) == [("-U", 1, None, None), ("+U", *ROW_A)]


def test_old_values_are_not_looked_for_in_other_fields() -> None:
    schema = pa.schema([("id", pa.int32()), ("s", pa.struct([("id", pa.int32())]))])
    message = change("UPDATE", [{"id": 1, "s": {"id": 2}}], [{"s": {"id": None}}])
    assert changes(CANAL, message, schema=schema) == [("-U", 1, {"id": None}), ("+U", 1, {"id": 2})]


BINARY = pa.schema([("id", pa.int32()), ("hash", pa.binary()), ("is_new", pa.bool_())])


@pytest.mark.parametrize("declared", [{"sqlType": {"hash": -3}}, {"mysqlType": {"hash": "varbinary(4)"}}])
def test_bytes_are_latin_1_where_the_message_declares_a_binary_column(declared: dict[str, Any]) -> None:
    row, old = {"id": "1", "hash": "abcd\xff", "is_new": "1"}, {"hash": "", "is_new": "0"}
    message = change("UPDATE", [row], [old], **declared)
    expected = [("-U", 1, b"", False), ("+U", 1, b"abcd\xff", True)]
    assert changes(CANAL, message, schema=BINARY) == expected
    # A repeated field is for the exact reader
    twice = json.dumps(message).replace('"isDdl"', '"type": "UPDATE", "isDdl"').encode()
    assert changes(CANAL, twice, message, schema=BINARY) == expected * 2


def test_bytes_are_base64_where_no_binary_column_is_declared() -> None:
    plain = change("INSERT", [{"id": 1, "hash": "YWJj", "is_new": True}])
    text = change("INSERT", [{"id": 1, "hash": "YWJj", "is_new": True}], mysqlType={"hash": "text"})
    declared = change("INSERT", [{"id": 1, "hash": "YWJj", "is_new": True}], mysqlType={"hash": "blob"})
    rows = changes(CANAL, plain, declared, text, schema=BINARY)
    assert [row[2] for row in rows] == [b"abc", b"YWJj", b"abc"]
    assert reason(CANAL, change("INSERT", [{"hash": "\u0100"}], sqlType={"hash": -2}), schema=BINARY) == (
        'field data[0].hash: "\u0100" cannot be read as BINARY: expected base64 text'
    )


def test_a_field_that_cannot_be_converted_costs_itself_or_its_message() -> None:
    bad = change("INSERT", [A, {**B, "id": "x"}])
    old = change("UPDATE", [A], [{"weight": "x"}])
    assert changes(LENIENT, bad, old) == [("+I", *ROW_A), ("+I", None, "b", 2.0), ("-U", 1, "a", None), ("+U", *ROW_A)]
    skipping = CanalJsonFormat(CanalOptions(ignore_parse_errors=True, ignored_scope="row"))
    assert changes(skipping, bad, change("INSERT", [B]), old) == [("+I", *ROW_B)]


def test_declared_types_are_read_beside_their_metadata() -> None:
    message = change("INSERT", [{"id": 1, "hash": "\xff"}], sqlType={"hash": -2})
    decoded = decode(CANAL, message, schema=BINARY, metadata=["sql-type"])
    assert decoded.rows["hash"].to_pylist() == [b"\xff"]
    assert decoded.metadata is not None
    assert decoded.metadata.to_pylist() == [{"sql-type": [("hash", -2)]}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1", True), ("0", False), (1, True), (0, False), ("-1", True), ("2", True), ("00", False), ("true", True)],
)
def test_a_number_is_a_boolean(value: Any, expected: bool) -> None:
    schema = pa.schema([("a", pa.bool_())])
    assert changes(CANAL, change("INSERT", [{"a": value}]), schema=schema) == [("+I", expected)]


def test_rows_without_any_field_are_rows() -> None:
    assert changes(CANAL, change("INSERT", [{}]), change("UPDATE", [A], [{}])) == [
        ("+I", None, None, None),
        ("-U", *ROW_A),
        ("+U", *ROW_A),
    ]


def test_no_rows_and_what_creates_a_table_give_none() -> None:
    created = change("CREATE", None, sql="CREATE TABLE t (id INT)", isDdl=True)
    assert changes(CANAL, change("INSERT", []), created, change("CREATE", [A]), None, b"") == []


def test_statements_and_marks_of_other_kinds_give_no_rows() -> None:
    types = ("ALTER", "ERASE", "QUERY", "RENAME", "CINDEX", "DINDEX", "GTID", "XACOMMIT", "MHEARTBEAT")
    assert changes(CANAL, *(change(type_, None) for type_ in types)) == []
    assert changes(CANAL, change("TIDB_WATERMARK", None, database="", table="", _tidb={"watermarkTs": 1})) == []
    only_orders = CanalJsonFormat(CanalOptions(table_include="orders"))
    assert changes(only_orders, change("ALTER", None, database="shop")) == []


def test_other_types_are_errors_and_passed_over_when_ignored() -> None:
    assert reason(CANAL, change("MERGE", None)) == (
        'field type: expected one of INSERT, UPDATE, DELETE, TRUNCATE, found "MERGE"'
    )
    assert reason(CANAL, change("TRUNCATE", None)).startswith("field type: 'TRUNCATE' is a truncation, which rows of ")
    assert changes(LENIENT, change("MERGE", None), change("TRUNCATE", [])) == []


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (change("INSERT", None), "field data: expected an array, found null"),
        (change("INSERT", A), 'field data: expected an array, found {"id":"1","name":"a","weight":"0.5"}'),
        (change("INSERT", [A, None]), "field data[1]: there is no row"),
        (change("INSERT", [A, 7]), "field data[1]: expected an object, found 7"),
        (change("DELETE", [{"id": "x"}]), 'field data[0].id: "x" cannot be read as INT: not an integer'),
        (
            change("UPDATE", [A], None),
            "field old: it is null, though the operation is 'UPDATE', an update. For a table with a primary key, "
            "'canal-json.updates-without-old-row' = 'upsert' reads the new row alone",
        ),
        (change("UPDATE", [A], 7), "field old: expected an array, found 7"),
        (change("UPDATE", [A, B], [{}]), "field old: it has 1 rows, but data has 2"),
        (change("UPDATE", [A], [None]), "field old[0]: there is no row"),
        (change("UPDATE", [A], [{"id": "x"}]), 'field old[0].id: "x" cannot be read as INT: not an integer'),
    ],
)
def test_what_is_no_change_is_an_error_that_names_the_place(message: Any, expected: str) -> None:
    assert reason(CANAL, message) == expected


def test_ignoring_errors_keeps_rows_with_null_fields() -> None:
    message = change("UPDATE", [A | {"weight": "heavy"}], [{"id": "x"}])
    assert changes(LENIENT, message, change("INSERT", [None])) == [("-U", None, "a", None), ("+U", 1, "a", None)]


def test_text_is_read_by_the_fast_path() -> None:
    schema = pa.schema([("i", pa.int8()), ("f", pa.float32()), ("b", pa.bool_()), ("t", pa.timestamp("us"))])
    text = {"i": "-7", "f": "0.1", "b": "true", "t": "2020-05-13 15:40:06.5"}
    number = {"i": 8, "f": 2, "b": False, "t": None}
    message = change("UPDATE", [text, number], [{"i": "5"}, {"b": "True"}])
    fast = FastChangeReader.of(all_columns(schema, pa.schema([])), list(schema), [], CANAL.dialect, iso=False)
    assert fast is not None
    assert fast.read([json.dumps(message).encode()]).unread == []
    tenth, time = pytest.approx(0.1), datetime(2020, 5, 13, 15, 40, 6, 500_000)
    assert changes(CANAL, message, schema=schema) == [
        ("-U", 5, tenth, True, time),
        ("+U", -7, tenth, True, time),
        ("-U", 8, 2.0, True, None),
        ("+U", 8, 2.0, False, None),
    ]


def of(database: Any, table: Any) -> dict[str, Any]:
    return change("INSERT", [A], database=database, table=table)


def reader(database: str | None = None, table: str | None = None, ignore: bool = False) -> CanalJsonFormat:
    return CanalJsonFormat(CanalOptions(database_include=database, table_include=table, ignore_parse_errors=ignore))


@pytest.mark.parametrize(
    ("database", "table", "kept"),
    [
        (None, None, [0, 1, 2, 3]),
        ("shop", None, [0, 1]),
        ("sho", None, []),
        ("shop.*", None, [0, 1, 2]),
        (None, "orders|items", [0, 2, 3]),
        ("shop", "orders", [0]),
        (r"\p{Lower}+", None, [0, 1, 3]),
        (r"\Qshop_2\E", None, [2]),
    ],
)
def test_databases_and_tables_are_chosen_by_whole_names(
    database: str | None, table: str | None, kept: list[int]
) -> None:
    messages = [of("shop", "orders"), of("shop", "customers"), of("shop_2", "orders"), of("hr", "items")]
    decoded = decode(reader(database, table), *messages, None)
    assert not decoded.errors
    assert decoded.message_index is not None
    assert decoded.message_index.to_pylist() == kept


def test_what_is_not_chosen_may_have_any_rows_but_must_be_json() -> None:
    made = reader(table="orders")
    other = change("INSERT", [{"id": {"a": 1}}, 7], table="customers")
    assert changes(made, other, change("ALTER", None, table="customers"), of("shop", "orders")) == [("+I", *ROW_A)]
    assert reason(made, b'{"table":"customers",').startswith("not JSON")
    assert reason(made, b'{"table":"customers","x":"\xff"}').startswith("not UTF-8")


def test_a_message_without_the_name_is_an_error_and_a_null_name_is_not_chosen() -> None:
    assert reason(reader(table=".*"), change("INSERT", [A])) == (
        "field table: the field is missing, by which messages are filtered"
    )
    assert changes(reader(table=".*", ignore=True), change("INSERT", [A])) == []
    assert changes(reader(table=".*"), of("shop", None)) == []
    assert changes(reader(table="7"), of("shop", 7)) == [("+I", *ROW_A)]


def test_a_pattern_that_is_none_is_refused() -> None:
    assert parse_pattern("a|b") == "a|b"
    with pytest.raises(ValueError, match=r"^expected a regular expression: "):
        parse_pattern("a(")


def test_metadata() -> None:
    message = change(
        "INSERT",
        [A],
        database="shop",
        table="orders",
        sqlType={"id": 4, "name": 12},
        pkNames=["id", "name"],
        ts=1_589_373_515_477,
        es=1_589_373_515_000,
    )
    assert metadata_of(CANAL, message) == {
        "database": "shop",
        "table": "orders",
        "sql-type": [("id", 4), ("name", 12)],
        "pk-names": ["id", "name"],
        "ingestion-timestamp": datetime(2020, 5, 13, 12, 38, 35, 477_000, tzinfo=UTC),
        "event-timestamp": datetime(2020, 5, 13, 12, 38, 35, tzinfo=UTC),
    }
    assert set(metadata_of(CANAL, change("INSERT", [A], pkNames=None, sqlType=None)).values()) == {None}


def test_metadata_is_repeated_for_each_row() -> None:
    update, insert = change("UPDATE", [A, B], [{}, {}], table="orders"), change("INSERT", [A], table="customers")
    decoded = decode(CANAL, update, insert, metadata=["table"])
    assert decoded.metadata is not None
    assert decoded.metadata.column("table").to_pylist() == [*["orders"] * 4, "customers"]


def test_rows_are_written_one_a_message() -> None:
    rows = pa.record_batch([[1, 2, 3, 4], ["a", None, "c", "d"], [0.5, 1, 2, 3]], schema=SCHEMA)
    encoded = CANAL.encoder(SCHEMA).encode(rows, pa.array(["+I", "-U", "+U", "-D"]))
    assert list(encoded.to_list()) == [
        b'{"data":[{"id":1,"name":"a","weight":0.5}],"type":"INSERT"}',
        b'{"data":[{"id":2,"name":null,"weight":1.0}],"type":"DELETE"}',
        b'{"data":[{"id":3,"name":"c","weight":2.0}],"type":"INSERT"}',
        b'{"data":[{"id":4,"name":"d","weight":3.0}],"type":"DELETE"}',
    ]
