"""Columns that are computed from those of a table, and their places."""

import pytest

from millrace.errors import SchemaError
from millrace_catalog.sinks.computed_columns import ComputedColumns
from millrace_catalog.types.spark import from_spark_schema

EXPRESSIONS = {"a": "id + 1", "b": "id", "c": "name"}


@pytest.fixture
def rows(spark):
    return spark.createDataFrame([], "id INT, name STRING")


@pytest.mark.parametrize(
    ("places", "names"),
    [
        ({}, ["id", "name", "a", "b", "c"]),
        ({"a": "ID", "c": ""}, ["c", "id", "a", "name", "b"]),
        ({"b": "a", "c": "a"}, ["id", "name", "a", "c", "b"]),
    ],
)
def test_places(rows, places, names):
    computed = ComputedColumns(EXPRESSIONS, "orders", places)
    _, schema = computed.add_to(rows, from_spark_schema(rows.schema))
    assert list(schema.names) == names


def test_an_unknown_place_is_refused_with_the_nearest_column(rows):
    computed = ComputedColumns(EXPRESSIONS, "orders", {"a": "nam"})
    with pytest.raises(SchemaError, match=r"column a is to stand after nam, which .* have; did you mean name"):
        computed.add_to(rows, from_spark_schema(rows.schema))


def test_an_expression_that_spark_cannot_parse_is_refused_with_what_spark_says(rows):
    computed = ComputedColumns({"a": "id +"}, "orders", {})
    with pytest.raises(SchemaError, match=r"got 'id \+': \[PARSE_SYNTAX_ERROR\] Syntax error at or near end of input"):
        computed.add_to(rows, from_spark_schema(rows.schema))
