"""Transforms of one table, before Spark sees them."""

from __future__ import annotations

import pytest

from millrace_catalog.types import parse_schema
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.runtime.projection import is_identity, table_metadata
from millrace_cdc.table_id import table_id
from millrace_cdc.transforms.transform import Transform

COLUMNS = parse_schema("id BIGINT, `a.b` STRING")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, True),
        ({"projection": "*"}, True),
        ({"projection": r"\*"}, True),
        ({"projection": "id, `a.b`"}, True),
        ({"projection": "`a.b`, id"}, False),
        ({"projection": "*, UPPER(`a.b`) AS `a.b`"}, False),
        ({"projection": "id"}, False),
        ({"filter": "id > 1"}, False),
        ({"converter": "SOFT_DELETE"}, False),
    ],
)
def test_a_rule_with_all_columns_in_their_order_leaves_rows_as_they_are(given, expected):
    rule = TransformRule(source_table="a.b", primary_keys=("id",), **given)
    assert is_identity(Transform.of(rule).bind(COLUMNS.names), COLUMNS) is expected


def test_the_parts_of_a_tables_id_are_metadata():
    assert table_metadata(table_id("shop.orders")) == {
        "__namespace_name__": None,
        "__schema_name__": "shop",
        "__table_name__": "orders",
    }
