from __future__ import annotations

from pyspark.sql import SparkSession

from millrace_catalog.types import parse_schema
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.runtime.execution import pipeline_session
from millrace_cdc.runtime.transforms import RowTransforms
from millrace_cdc.transforms.transform import Transform


def test_a_pipeline_has_the_settings_of_its_session_and_its_own(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        session = pipeline_session(spark, {"spark.sql.shuffle.partitions": "7"})
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert session.conf.get("spark.sql.caseSensitive") == "true"
    assert session.conf.get("spark.sql.session.timeZone") == "UTC"
    assert session.conf.get("spark.sql.shuffle.partitions") == "7"
    assert spark.conf.get("spark.sql.shuffle.partitions") != "7"


def test_expressions_of_a_pipeline_leave_the_active_session(spark: SparkSession) -> None:
    spark.createDataFrame([], "id INT")
    session = pipeline_session(spark, {"spark.sql.session.timeZone": "Asia/Kolkata"})
    columns = parse_schema("id BIGINT")
    transform = Transform.of(TransformRule(source_table="shop.t", projection="id, id + 1 AS next")).bind(columns.names)
    assert str(RowTransforms(session).columns("shop.t", columns, transform)) == "id BIGINT, next BIGINT"
    active = SparkSession.getActiveSession()
    assert active is not None
    assert active.conf.get("spark.sql.session.timeZone") == "UTC"
