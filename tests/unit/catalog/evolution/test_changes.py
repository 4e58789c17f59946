from __future__ import annotations

import pytest

from millrace.contracts.query_schemas import SchemaVersion
from millrace_catalog.evolution.changes import (
    AddColumns,
    AlterColumnTypes,
    AlteredColumn,
    SchemaChange,
    TableCreation,
    describe_change,
)
from millrace_catalog.inference.observation import Position
from millrace_catalog.types import parse_schema

COLUMNS = parse_schema("id BIGINT, `a b` STRING").columns
LONG, DOUBLE = (parse_schema(f"n {name}").types["n"] for name in ("BIGINT", "DOUBLE"))


@pytest.mark.parametrize(
    ("change", "described"),
    [
        (TableCreation(1, "t", COLUMNS), SchemaVersion(1, "created", ("id BIGINT", "`a b` STRING"))),
        (
            AddColumns(2, "t", COLUMNS[1:], Position(3, 42)),
            SchemaVersion(2, "added", ("`a b` STRING",), "partition 3, offset 42"),
        ),
        (
            AlterColumnTypes(3, "t", (AlteredColumn("n", LONG, DOUBLE),)),
            SchemaVersion(3, "widened", ("n BIGINT → DOUBLE",)),
        ),
    ],
    ids=["creation", "addition", "widening"],
)
def test_a_change_is_described_for_people(change: SchemaChange, described: SchemaVersion) -> None:
    assert describe_change(change) == described
