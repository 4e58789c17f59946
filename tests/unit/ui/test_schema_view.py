from __future__ import annotations

import json

from millrace.contracts.query_schemas import MAX_QUERIES, QuerySchema, QuerySchemas, SchemaVersion
from millrace_ui.page_data import PageData
from millrace_ui.query_history import Histories
from support.query_reports import report

CREATED = SchemaVersion(1, "created", ("id BIGINT", "n BIGINT"))
WIDENED = SchemaVersion(2, "widened", ("n BIGINT → DOUBLE",), "partition 0, offset 42")


def test_a_querys_view_has_its_schema_in_short_and_all_changes_are_given_on_request() -> None:
    histories, schemas = Histories(), QuerySchemas()
    histories.add(report(3))
    schemas.add("id-1", lambda: QuerySchema("orders", (CREATED, WIDENED), restarts=1))
    data = PageData(histories, schemas=schemas)
    short = {"table": "orders", "version": 2, "restarts": 1, "isStatic": False}
    for shown in (data.query("id-1"), data.charts("id-1")):
        assert json.loads(shown or "")["schema"] == short
    changes = [
        {"version": 2, "kind": "widened", "columns": ("n BIGINT → DOUBLE",), "cause": "partition 0, offset 42"},
        {"version": 1, "kind": "created", "columns": ("id BIGINT", "n BIGINT"), "cause": None},
    ]
    assert data.schema("id-1") == {**short, "changes": changes}


def test_a_query_whose_columns_follow_no_messages_has_no_schema() -> None:
    histories = Histories()
    histories.add(report(3))
    data = PageData(histories, schemas=QuerySchemas())
    assert json.loads(data.charts("id-1") or "")["schema"] is None
    assert data.schema("id-1") is None


def test_the_newest_queries_are_remembered() -> None:
    schemas = QuerySchemas()
    for number in [*range(MAX_QUERIES), 0, MAX_QUERIES]:
        schemas.add(f"id-{number}", lambda: QuerySchema("orders", (CREATED,)))
    assert schemas.schema("id-1") is None
    assert schemas.schema("id-0") == QuerySchema("orders", (CREATED,))
