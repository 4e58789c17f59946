"""Values of JSON as Spark SQL."""

from __future__ import annotations

from pyspark.sql import types as sql

from millrace_cdc.rows.json_expressions import value_sql


def test_keys_of_maps_are_texts_that_become_what_their_type_says() -> None:
    for type_, key in {sql.IntegerType(): "CAST(k0 AS int)", sql.DateType(): "CAST(k0 AS date)"}.items():
        assert value_sql("u", sql.MapType(type_, sql.StringType())).endswith(f"(k0, w0) -> {key})")
    assert value_sql("u", sql.MapType(sql.StringType(), sql.IntegerType())) == "from_json(u, 'v MAP<string, int>').v"
