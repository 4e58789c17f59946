"""A table that follows keys and values: owners of columns, refusals, and restarts from the stored schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from millrace.contracts import SampledMessage
from millrace.errors import SchemaError
from millrace_catalog.evolution.evolving_table import EvolvingTable, TableLayout
from millrace_catalog.inference import JsonInferenceOptions
from millrace_catalog.types import parse_schema

METADATA = "partition INT NOT NULL, `offset` BIGINT NOT NULL, timestamp TIMESTAMP_LTZ(3)"


def layout(**changes: Any) -> TableLayout:
    given: dict[str, Any] = {
        "topic": "orders",
        "json": JsonInferenceOptions(),
        "key_prefix": "key_",
        "value_prefix": "",
        "key_field": "col",
        "metadata": ("partition", "offset", "timestamp"),
        "is_upsert": False,
        "max_columns": 10,
    }
    return TableLayout(**{**given, **changes})


def table(columns: str = "id BIGINT", keys: tuple[str, ...] = (), **changes: Any) -> EvolvingTable:
    schema = parse_schema(f"{columns}, {METADATA}")
    primary_key = keys if changes.get("is_upsert") else ("partition", "offset")
    return EvolvingTable.create(layout(**changes), schema, primary_key, keys, key_is_json=True)


def messages(*found: Any) -> list[SampledMessage]:
    """Messages of partition 1: values, or pairs of key and value; bytes as they are, all else as JSON."""
    pairs = [each if isinstance(each, tuple) else (None, each) for each in found]
    return [SampledMessage(1, offset, *map(payload, pair)) for offset, pair in enumerate(pairs)]


def payload(value: Any) -> bytes | None:
    return value if value is None or isinstance(value, bytes) else json.dumps(value).encode()


def new_columns(made: EvolvingTable) -> str:
    return ", ".join(map(str, made.schema.columns[4:]))


def test_columns_of_keys_and_of_values_come_behind_all_others() -> None:
    made = table()
    assert made.observe_all(messages({"id": 1})) == ()
    changes = made.observe_all(messages(({"k": 1}, {"id": 1.5, "n": None}), ({"l": None}, {"n": True}), (b"", None)))

    assert [change.version for change in changes] == [2, 3, 4]
    assert new_columns(made) == "key_k BIGINT, n BOOLEAN"
    assert str(made.schema.types["id"]) == "DOUBLE"
    assert (str(made.key_fields()), str(made.value_fields())) == ("k BIGINT", "id DOUBLE, n BOOLEAN")
    assert made.keys == ("key_k",)
    assert made.key_is_json


@pytest.mark.parametrize("key", [b"\xff", b"[1]", b" ", b"null", b"7"])
def test_first_keys_that_are_not_all_objects_are_one_column_of_bytes(key: bytes) -> None:
    made = table()
    made.observe_all(messages(({"k": 1}, {}), (key, {})))
    assert new_columns(made) == "key_col BYTES"
    assert not made.key_is_json
    assert made.observe_all(messages(({"k": 1}, {}))) == ()


def test_a_key_that_is_no_object_among_those_that_are_changes_nothing() -> None:
    made = table("key_k BIGINT, id BIGINT", ("key_k",))
    assert made.observe_all(messages((b"\xff", {}), (b"null", None), (b"{", b"{"))) == ()
    assert made.key_is_json


def test_both_parts_may_have_prefixes() -> None:
    made = table("id BIGINT, v_id BIGINT", ("id",), key_prefix="", value_prefix="v_")
    made.observe_all(messages(({"partitions": 1}, {"offset": 1})))
    assert new_columns(made) == "timestamp TIMESTAMP_LTZ(3), partitions BIGINT, v_offset BIGINT"
    assert str(made.value_fields()) == "id BIGINT, offset BIGINT"
    assert str(made.key_fields()) == "id BIGINT, partitions BIGINT"


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"partition": 1}, "orders', partition 1, offset 1: the new column partition would have the name of a column"),
        ({"Timestamp": "x"}, "the new column Timestamp would have the name of a column of another part of"),
        ({"key_k": 1}, "the new column key_k would have the name"),
        ({"ID": 1}, "the new column ID differs only in case from id, and Spark takes them for the same"),
        ({"new": 1, "New": 1}, "the new column New differs only in case from new"),
        (({"new": 1}, {"KEY_new": 1}), "the new column KEY_new would have the name"),
        (({"a;b": 1}, {}), "option 'key.fields' cannot express the key column 'key_a;b'; read the topic with a schema"),
        ({f"n{number}": 1 for number in range(6)}, "at partition 1, offset 1 would have 11 columns"),
    ],
    ids=lambda each: str(each)[:30],
)
def test_what_is_refused(message: Any, problem: str) -> None:
    made = table("key_k BIGINT, id BIGINT", ("key_k",))
    with pytest.raises(SchemaError) as caught:
        made.observe_all(messages({"partition": None, "key_k": None}, message))
    assert problem in str(caught.value)
    assert made.version == 1


def test_the_key_of_an_upsert_table_cannot_change() -> None:
    made = table("key_k BIGINT, id BIGINT", ("key_k",), is_upsert=True)
    assert len(made.observe_all(messages(({"k": 1.5}, {"n": 1})))) == 2
    with pytest.raises(SchemaError, match=r"has another primary key: \(key_k, key_l\) instead of \(key_k\)"):
        made.observe_all(messages(({"l": 1}, {})))


def test_it_goes_on_from_what_is_kept() -> None:
    made = table()
    made.observe_all(messages((b"\xff", {"n": 1})))
    again = EvolvingTable.restore(layout(), made.state())
    assert (again.state(), again.schema, again.keys, again.key_is_json) == (
        made.state(),
        made.schema,
        ("key_col",),
        False,
    )
    assert again.changes() == made.changes()
    assert again.observe_all(messages((b"x", {"n": 1}))) == ()
    assert again.copy().observe_all(messages({"n": "x"})) != ()
    assert again.version == made.version

    kept = EvolvingTable.restore(layout(is_static=True), made.state())
    assert kept.observe_all(messages({"more": 1, "n": "x"})) == ()


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ("{", "the state of a table cannot be read: JSONDecodeError"),
        ("[]", "the state of a table cannot be read: TypeError"),
        ('{"v":1}', "the state of a table cannot be read: KeyError: 'keys'"),
        ('{"v":2,"keys":[],"key_is_json":true,"changes":{}}', "has version 2, and this millrace reads version 1"),
    ],
)
def test_a_state_that_cannot_be_read(state: str, problem: str) -> None:
    with pytest.raises(SchemaError, match=problem):
        EvolvingTable.restore(layout(), state)


def test_a_state_of_another_table() -> None:
    with pytest.raises(SchemaError, match="is of table 'orders', not of 'payments'"):
        EvolvingTable.restore(layout(topic="payments"), table().state())


def test_what_decides_how_keys_are_read_matters() -> None:
    made = table()
    shown = messages(
        ({}, {}), ({"k": 1}, {}), ({"k": 2}, {}), (b"x", {}), (b"y", {}), (None, {"n": 1}), ({}, {"n": "x"})
    )
    assert [made.is_relevant(each) for each in shown] == [True, True, False, True, False, True, True]
    known = table("key_k BIGINT, id BIGINT", ("key_k",))
    assert [known.is_relevant(each) for each in messages((b"x", {}), ({}, {}), ({}, {"partition": 1}))] == [
        False,
        False,
        True,
    ]


def test_columns_hold_all_rows_of_an_array() -> None:
    made = table()
    made.observe_all(messages([{"id": 1, "n": None}, {"id": 1.5, "n": "x"}, 7, {"ok": True}]))
    assert str(made.schema.types["id"]) == "DOUBLE"
    assert new_columns(made) == "n STRING, ok BOOLEAN"
