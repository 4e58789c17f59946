from __future__ import annotations

from typing import TYPE_CHECKING

from millrace_cdc.runtime.execution import pipeline_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
