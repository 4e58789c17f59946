"""Projections of transforms, before Spark sees them."""

from __future__ import annotations

import pytest

from millrace_catalog.types import parse_schema
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.runtime.projection import Projection, projection_of, split_items, table_id, table_metadata

COLUMNS = parse_schema("id BIGINT, `a.b` STRING")


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("id, name", ["id", "name"]),
        ("concat(a, ',', b) AS c, *", ["concat(a, ',', b) AS c", "*"]),
        (r"\*, `x,y`", ["*", "`x,y`"]),
        ("map(1, array(2, 3))[1]", ["map(1, array(2, 3))[1]"]),
    ],
)
def test_items_are_divided_at_commas_outside_of_quotes_and_parentheses(text, items):
    assert list(split_items(text)) == items


@pytest.mark.parametrize("projection", [None, "*", r"\*"])
def test_a_rule_with_all_columns_leaves_rows_as_they_are(projection):
    rule = TransformRule(source_table="a.b", projection=projection, primary_keys=("id",))
    assert projection_of(rule, COLUMNS) is None


def test_a_star_stands_for_the_tables_columns():
    rule = TransformRule(source_table="a.b", projection="*, upper(name) AS up", filter="id > 1")
    assert projection_of(rule, COLUMNS) == Projection(("`id`", "`a.b`", "upper(name) AS up"), "id > 1", False)


def test_the_parts_of_a_tables_id_are_metadata():
    assert table_metadata(table_id("shop.orders")) == {
        "__namespace_name__": None,
        "__schema_name__": "shop",
        "__table_name__": "orders",
    }
    assert table_id("a.b.c.d").parts == ("a.b.c.d",)
