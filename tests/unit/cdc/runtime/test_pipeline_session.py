"""The session of a pipeline, and that of its caller."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import millrace
from millrace_catalog.types import parse_schema
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.errors import PipelineError
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


def test_the_session_of_the_caller_stays_active_when_expressions_are_analyzed(spark: SparkSession) -> None:
    millrace.set_active_session(spark)
    session = pipeline_session(spark, {"spark.sql.session.timeZone": "Asia/Tokyo"})
    transforms = RowTransforms(session)
    columns = parse_schema("id BIGINT, name STRING")
    rule = TransformRule(source_table="s.t", projection="id, UPPER(name) AS name")
    found = transforms.columns("s.t", columns, Transform.of(rule).bind(columns.names))
    assert str(found) == "id BIGINT, name STRING"
    wrong = TransformRule(source_table="s.t", projection="id, name + TRUE AS name")
    bound = Transform.of(wrong).bind(columns.names)
    with pytest.raises(PipelineError):
        transforms.columns("s.t", columns, bound)
    active = SparkSession.getActiveSession()
    assert active is not None
    assert active.conf.get("spark.sql.session.timeZone") == "UTC"
    assert session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
