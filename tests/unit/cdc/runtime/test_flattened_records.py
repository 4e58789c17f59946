"""Rows that Debezium has flattened, with a field that tells deletions."""

from __future__ import annotations

import json

import pytest

from millrace.errors import MessageError
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.fast_parser import fast_parser
from millrace_cdc.runtime.flattened_records import JsonRowOptions
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.table_schema import SourceTableSchema
from millrace_cdc.runtime.task_reports import Place

PLACE = Place("s.orders", 0, 7)


def parser(field, **options):
    return ChangeParser(ParserSettings("json", JsonRowOptions(deletion_field=field, **options)), {})


@pytest.mark.parametrize(
    ("field", "value", "operation"),
    [
        ("__deleted", "false", "c"),
        ("__deleted", "true", "d"),
        ("__deleted", False, "c"),
        ("__deleted", True, "d"),
        ("__op", "c", "c"),
        ("__op", "r", "c"),
        ("__op", "u", "c"),
        ("__op", "d", "d"),
    ],
)
def test_a_field_tells_deletions_and_is_no_column(field, value, operation):
    found = parser(field)
    (change,) = found.changes(PLACE, json.dumps({"id": 1, "name": "a", field: value}).encode())
    row = {"id": 1, "name": "a"}
    assert (change.operation, change.rows) == (operation, ((row, None) if operation == "d" else (None, row),))
    (required,) = found.report.tables["s.orders"].required
    assert required.columns == "id BIGINT NOT NULL, name STRING NOT NULL"


def test_a_truncation_is_one():
    found = parser("__op")
    assert found.changes(PLACE, b'{"__op": "t"}') == []
    assert found.report.tables["s.orders"].truncations == [PLACE]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"id": 1}, r"field __deleted: it is missing, and 'json\.decode\.deletion\.field' names it"),
        ({"id": 1, "__deleted": None}, r"field __deleted: expected one of true, false, c, .* found null"),
        ({"id": 1, "__deleted": "x"}, r'field __deleted: expected one of true, false, c, .* found "x"'),
        ({"id": 1, "__deleted": 1}, r"field __deleted: expected one of true, false, c, .* found 1"),
    ],
)
def test_a_field_that_tells_nothing_makes_a_message_malformed(message, problem):
    with pytest.raises(MessageError, match=problem):
        parser("__deleted").changes(PLACE, json.dumps(message).encode())


def test_it_may_be_with_the_fields_of_the_tables_id():
    (change,) = parser("__deleted", table_fields=("db", "t")).changes(
        PLACE, b'{"db": "s", "t": "x", "id": 1, "__deleted": "true"}'
    )
    assert (change.table, change.operation) == ("s.x", "d")


def test_such_messages_are_not_parsed_as_insertions_by_the_fast_parser():
    table = SourceTableSchema("id BIGINT", ())
    assert fast_parser(JsonRowOptions(deletion_field="__deleted"), {"t": table.columns}.get) is None
    assert fast_parser(JsonRowOptions(), {"t": table.columns}.get) is not None
