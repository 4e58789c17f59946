"""Types as texts, as Spark's and as Arrow's, and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.pandas.types import to_arrow_schema as arrow_of_spark

from millrace_catalog.types import Column, DataType, Schema, parse_schema, parse_type
from millrace_catalog.types.arrow import from_arrow, to_arrow, to_arrow_schema
from millrace_catalog.types.spark import from_spark, to_spark, to_spark_schema
from unit.catalog.any_types import ALL, NAMES, READABLE, nested

SCHEMAS = st.lists(
    st.builds(Column, NAMES | st.text(st.characters(codec="utf-8")), ALL), unique_by=lambda column: column.name
).map(lambda columns: Schema(tuple(columns)))


@given(ALL)
def test_the_text_of_a_type_means_that_type(type_: DataType) -> None:
    assert parse_type(str(type_)) == type_


@given(SCHEMAS.filter(len))
def test_the_text_of_a_schema_means_that_schema(schema: Schema) -> None:
    assert parse_schema(str(schema)) == schema


@given(st.text(st.sampled_from("ARYINTMPOW<>(),:`' 09.a\t\u00e4")) | st.text())
def test_any_text_is_a_type_or_an_error_that_says_where(text: str) -> None:
    try:
        type_ = parse_type(text)
    except ValueError as error:
        problem = str(error)
    else:
        problem = ""
        assert parse_type(str(type_)) == type_
    assert not problem or any(word in problem for word in ("expected", "must be from", "nested")), problem


@given(nested(READABLE))
def test_arrow_types_are_those_that_spark_makes_of_its_own(type_: DataType) -> None:
    schema = Schema((Column("c", type_),))
    assert to_arrow_schema(schema) == arrow_of_spark(to_spark_schema(schema), timezone="UTC")


@given(nested(READABLE))
def test_what_spark_and_arrow_know_of_a_type_comes_back(type_: DataType) -> None:
    assert to_spark(from_spark(to_spark(type_))) == to_spark(type_)
    assert to_arrow(from_arrow(to_arrow(type_))) == to_arrow(type_)
