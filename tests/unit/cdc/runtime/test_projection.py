"""Projections of transforms, before Spark sees them."""

from __future__ import annotations

import pytest

from millrace.errors import SchemaError
from millrace_catalog.types import parse_schema
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.runtime.projection import Projection, projection_of, table_id, table_metadata

COLUMNS = parse_schema("id BIGINT, `a.b` STRING")


@pytest.mark.parametrize("projection", [None, "*", r"\*"])
def test_a_rule_with_all_columns_leaves_rows_as_they_are(projection):
    rule = TransformRule(source_table="a.b", projection=projection, primary_keys=("id",))
    assert projection_of(rule, COLUMNS) is None


def test_a_star_stands_for_the_tables_columns():
    rule = TransformRule(source_table="a.b", projection="*, upper(`a.b`) AS up, 1 AS id", filter="id > 1 AND up = 'x'")
    items = ("1 AS `id`", "`a.b`", "upper(`a.b`) AS `up`")
    assert projection_of(rule, COLUMNS) == Projection(items, "`id` > 1 AND (upper(`a.b`)) = 'x'", False)


@pytest.mark.parametrize(
    ("projection", "problem"),
    [
        ("nope", "transform of a.b: option 'projection': there is no column 'nope'"),
        ("UPER(id) AS x", "transform of a.b: option 'projection': unknown function 'UPER'; did you mean UPPER"),
    ],
)
def test_a_wrong_projection_is_an_error_of_the_schema(projection, problem):
    with pytest.raises(SchemaError, match=problem):
        projection_of(TransformRule(source_table="a.b", projection=projection), COLUMNS)


def test_the_parts_of_a_tables_id_are_metadata():
    assert table_metadata(table_id("shop.orders")) == {
        "__namespace_name__": None,
        "__schema_name__": "shop",
        "__table_name__": "orders",
    }
    assert table_id("a.b.c.d").parts == ("a.b.c.d",)
