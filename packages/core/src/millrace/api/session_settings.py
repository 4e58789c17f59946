"""Settings of a session that are lists, to which each of those who follow its queries adds one entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.pyspark_internals import is_stopped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def add_entry(spark: SparkSession, setting: str, entry: str) -> None:
    """Add an entry, for the queries that start from now on."""
    spark.conf.set(setting, ",".join([*_entries(spark, setting), entry]))


def remove_entry(spark: SparkSession, setting: str, entry: str) -> None:
    """Take an entry away again, unless the session has been stopped."""
    if is_stopped(spark):
        return
    others = [other for other in _entries(spark, setting) if other != entry]
    if others:
        spark.conf.set(setting, ",".join(others))
    else:
        spark.conf.unset(setting)


def _entries(spark: SparkSession, setting: str) -> list[str]:
    return list(filter(None, spark.conf.get(setting, "").split(",")))
