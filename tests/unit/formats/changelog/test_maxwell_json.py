"""Reading and writing Maxwell's messages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from millrace_formats.changelog.maxwell_json import MaxwellJsonFormat
from unit.formats.changelog.reading import SCHEMA, changes, metadata_of, reason

MAXWELL = MaxwellJsonFormat()
A = {"id": 1, "name": "a", "weight": 0.5}
ROW_A = (1, "a", 0.5)


def change(type_: str, data: Any, **more: Any) -> dict[str, Any]:
    return {"data": data, "type": type_, **more}


def test_insertions_updates_and_deletions() -> None:
    update = change("update", A, old={"weight": 7, "name": None})
    assert changes(MAXWELL, change("insert", A), update, change("delete", A)) == [
        ("+I", *ROW_A),
        ("-U", 1, None, 7.0),
        ("+U", *ROW_A),
        ("-D", *ROW_A),
    ]


def test_unset_values_of_every_type_are_taken_from_the_new_row() -> None:
    values = {"s": "a", "d": "1.50", "t": "2020-05-13 15:40:06", "l": [1, None], "m": {"k": 1}, "b": True}
    types = {
        "s": pa.string(),
        "d": pa.decimal128(10, 2),
        "t": pa.timestamp("us"),
        "l": pa.list_(pa.int32()),
        "m": pa.map_(pa.string(), pa.int32()),
        "b": pa.bool_(),
    }
    before, after = changes(MAXWELL, change("update", values, old={}), schema=pa.schema(list(types.items())))
    assert before[1:] == after[1:]
    assert None not in before


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (change("insert", None), "field data: it is null, though the operation is 'insert', an insertion"),
        (change("insert", [A]), 'field data: expected an object, found [{"id":1,"name":"a","weight":0.5}]'),
        (
            change("update", A),
            "field old: it is null, though the operation is 'update', an update. For a table with a primary key, "
            "'maxwell-json.updates-without-old-row' = 'upsert' reads the new row alone",
        ),
        (change("update", A, old={"id": "x"}), 'field old.id: "x" cannot be read as INT: not an integer'),
        (
            change("INSERT", A),
            'field type: expected one of insert, update, delete, bootstrap-insert, found "INSERT"',
        ),
    ],
)
def test_what_is_no_change_is_an_error(message: Any, expected: str) -> None:
    assert reason(MAXWELL, message) == expected


def test_a_bootstrap_inserts_rows_between_two_marks() -> None:
    marks = change("bootstrap-start", {}), change("bootstrap-complete", {}), change("table-alter", None)
    assert changes(MAXWELL, *marks, change("bootstrap-insert", A)) == [("+I", *ROW_A)]


def test_an_explicit_null_of_a_not_null_column_is_an_error_and_an_unset_one_is_not() -> None:
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False)])
    assert changes(MAXWELL, change("update", A, old={}), schema=schema) == [("-U", 1), ("+U", 1)]
    assert reason(MAXWELL, change("update", A, old={"id": None}), schema) == ("field old.id: NULL in a NOT NULL column")


def test_metadata_has_its_time_in_seconds() -> None:
    message = change("insert", A, database="shop", table="orders", primary_key_columns=["id"], ts=1_596_684_883)
    assert metadata_of(MAXWELL, message) == {
        "database": "shop",
        "table": "orders",
        "primary-key-columns": ["id"],
        "ingestion-timestamp": datetime(2020, 8, 6, 3, 34, 43, tzinfo=UTC),
    }


def test_rows_are_written_one_a_message() -> None:
    rows = pa.record_batch([[1, 2], ["a", None], [0.5, 1]], schema=SCHEMA)
    encoded = MAXWELL.encoder(SCHEMA).encode(rows, pa.array(["+U", "-U"]))
    assert list(encoded.to_list()) == [
        b'{"data":{"id":1,"name":"a","weight":0.5},"type":"insert"}',
        b'{"data":{"id":2,"name":null,"weight":1.0},"type":"delete"}',
    ]
