"""Messages of Maxwell and of GoldenGate as changes of tables."""

from __future__ import annotations

import json

import pytest

from millrace.change_dialects import SkipReason
from millrace.errors import MalformedMessageError
from millrace_catalog.inference import FormatOptions, MaxwellReader, OggReader


def parse(reader, **message):
    return reader("topic").parse(json.dumps(message).encode())


MAXWELL = {"database": "test", "table": "e", "primary_key_columns": ["id"]}
ROW, OLD = {"id": 1, "m": 5.5, "c": None}, {"id": 1, "m": 4.5, "c": None}


@pytest.mark.parametrize(
    ("message", "operation", "rows"),
    [
        ({"type": "insert", "data": ROW}, "c", (None, ROW)),
        ({"type": "bootstrap-insert", "data": ROW}, "c", (None, ROW)),
        ({"type": "update", "data": ROW, "old": {"m": 4.5}}, "u", (OLD, ROW)),
        ({"type": "delete", "data": ROW}, "d", (ROW, None)),
    ],
)
def test_maxwells_changes(message, operation, rows):
    change = parse(MaxwellReader, **MAXWELL, **message)
    assert (change.table, change.operation, change.rows, change.primary_key) == ("test.e", operation, (rows,), ("id",))
    columns = MaxwellReader("topic").columns_of(change)
    assert {name: type_.kind for name, type_ in columns.items()} == {"id": "BIGINT", "m": "DOUBLE", "c": "NULL"}


@pytest.mark.parametrize(
    ("type_", "reason"),
    [
        ("bootstrap-start", SkipReason.BOOTSTRAP),
        ("bootstrap-complete", SkipReason.BOOTSTRAP),
        ("table-create", SkipReason.STATEMENT),
        ("database-drop", SkipReason.STATEMENT),
    ],
)
def test_maxwells_other_messages_are_no_changes(type_, reason):
    assert parse(MaxwellReader, database="test", table="e", type=type_) is reason


@pytest.mark.parametrize(
    ("message", "operation", "rows"),
    [
        ({"op_type": "I", "after": ROW}, "c", ((None, ROW),)),
        ({"op_type": "U", "before": OLD, "after": ROW}, "u", ((OLD, ROW),)),
        ({"op_type": "D", "before": ROW}, "d", ((ROW, None),)),
        ({"op_type": "T"}, "t", ()),
    ],
)
def test_goldengates_changes(message, operation, rows):
    change = parse(OggReader, table="OGG.TEST", primary_keys=["id"], **message)
    assert (change.table, change.operation, change.rows, change.primary_key) == ("OGG.TEST", operation, rows, ("id",))


@pytest.mark.parametrize("reader", [MaxwellReader, OggReader])
def test_a_message_without_a_tables_name_or_rows(reader):
    kind = {"type": "insert", "op_type": "I"}
    with pytest.raises(MalformedMessageError, match="it is null, though the operation is"):
        parse(reader, **kind)
    assert reader("topic").parse(None) is reader("topic").parse(b" ") is SkipReason.TOMBSTONE
    change = parse(reader, **kind, data={"a": 1}, after={"a": 1})
    assert (change.table, change.primary_key) == ("topic", None)
    assert reader("topic").read(json.dumps({**kind, "data": {"a": 1}, "after": {"a": 1}}).encode()).table == "topic"


@pytest.mark.parametrize("reader", [MaxwellReader, OggReader])
@pytest.mark.parametrize("wrong", [{"type": "x", "op_type": "x"}, {"type": 1, "op_type": 1}, {}])
def test_a_message_of_no_known_type_is_malformed(reader, wrong):
    with pytest.raises(MalformedMessageError, match="expected one of" if wrong else "the message has no operation"):
        parse(reader, **wrong, data={}, after={})


def test_wrong_fields_are_malformed():
    with pytest.raises(MalformedMessageError):
        parse(MaxwellReader, type="insert", data=[ROW])
    with pytest.raises(MalformedMessageError, match="expected names of columns"):
        parse(OggReader, op_type="I", after=ROW, primary_keys="id")


def test_primitives_may_all_be_strings():
    reader = MaxwellReader("topic", FormatOptions(primitive_as_string=True))
    change = reader.parse(json.dumps({"type": "insert", "data": {"a": 1}}).encode())
    assert {name: type_.kind for name, type_ in reader.columns_of(change).items()} == {"a": "STRING"}
