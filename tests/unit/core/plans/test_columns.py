"""Declared columns against those that the format has."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, BinaryType, LongType, StringType, StructField, StructType

from millrace.configuration.build import configure_source
from millrace.plans.columns import read_columns

RAW = {"properties.bootstrap.servers": "h:1", "topic": "a"}


def test_differences_are_told():
    schema = StructType([StructField("value", StringType()), StructField("nope", LongType())])
    found = {each.name: each for each in read_columns(configure_source(RAW), schema).columns}
    assert "have binary" in found["value"].difference
    assert "NULL" in found["nope"].difference
    assert "not declared" in found["offset"].difference


def test_columns_without_a_difference():
    schema = StructType([StructField("value", BinaryType())])
    found = read_columns(configure_source(RAW), schema)
    assert found.schema is schema
    assert found.columns[0].difference == ""


def test_others_are_read_where_the_option_says_so():
    config = configure_source({**RAW, "format": "raw", "columns": "extra STRING, *"})
    found = {each.name: each for each in read_columns(config, None).columns}
    assert found["extra"].declared == "string"
    assert [each.difference for each in found.values() if each.name != "extra"] == [""] * (len(found) - 1)


def test_the_types_of_the_option_are_known_without_a_session():
    config = configure_source({**RAW, "format": "csv", "columns": "id BIGINT, tags ARRAY<STRING>"})
    expected = StructType([StructField("id", LongType()), StructField("tags", ArrayType(StringType()))])
    assert read_columns(config, None).schema == expected
