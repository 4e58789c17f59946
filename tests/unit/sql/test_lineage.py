"""From which columns an INSERT computes its columns, as lineage shows it."""

from __future__ import annotations

from typing import Any

import pytest

from millrace.contracts import TableDescription
from millrace_sql.execution.lineage import column_lineage, dataset_of, insert_lineage
from millrace_sql.execution.tables import BoundTable
from support.planned_sql import plan

SERVERS = {"properties.bootstrap.servers": "broker:9092"}


def bound(name: str, **options: str) -> BoundTable:
    factory: Any = None
    return BoundTable(TableDescription(("cat", "db", name), (), options=options), factory)


def columns_of(sql: str, *names: str) -> dict[str, list[str]]:
    """The input columns, as ``table.column``, of each column of a query."""
    planned = plan(sql)
    for scan in planned.scans:
        table = bound(scan.table.identifier.parts[-1], topic=scan.table.identifier.parts[-1], **SERVERS)
        object.__setattr__(scan.table, "origin", table)
    lineage = column_lineage(planned, names)
    return {name: [f"{one.dataset.name}.{one.column}" for one in inputs] for name, inputs in lineage.items()}


def test_columns_come_from_those_of_tables() -> None:
    assert columns_of("SELECT id, v + 1 AS next, 'x' FROM orders", "a", "b", "c") == {
        "a": ["orders.id"],
        "b": ["orders.v"],
        "c": [],
    }


def test_they_are_followed_through_common_tables_and_joins() -> None:
    sql = (
        "WITH o AS (SELECT id, name || 'x' AS n, v FROM plain) "
        "SELECT o.n, UPPER(p.name) AS u FROM o JOIN plain p ON o.id = p.id"
    )
    assert columns_of(sql, "n", "u") == {"n": ["plain.name"], "u": ["plain.name"]}


def test_all_columns_are_those_of_the_table() -> None:
    assert columns_of("SELECT * FROM plain", "a", "b", "c") == {
        "a": ["plain.id"],
        "b": ["plain.name"],
        "c": ["plain.v"],
    }


def test_hints_are_no_part_of_the_statement() -> None:
    text = "INSERT INTO t SELECT id FROM plain /*+ OPTIONS('properties.sasl.password'='secret') */ WHERE id > 1"
    lineage = insert_lineage(bound("t"), text, plan("SELECT id FROM plain"), ["id"])
    assert lineage.sql == "INSERT INTO t SELECT id FROM plain WHERE id > 1"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({**SERVERS, "topic": "orders"}, ("kafka://broker:9092", "orders")),
        ({**SERVERS, "topic": "orders;returns"}, None),
        ({"path": "file:///data/orders"}, ("file", "/data/orders")),
        ({"url": "jdbc:postgresql://host/db"}, None),
    ],
)
def test_tables_are_named_by_the_rules_of_openlineage(
    options: dict[str, str], expected: tuple[str, str] | None
) -> None:
    assert dataset_of(bound("orders", **options)) == expected
