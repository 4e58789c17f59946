"""JDBC drivers for a session that runs already."""

from __future__ import annotations

from pyspark.sql import SparkSession

from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_catalog.sinks.jdbc.sqlite import SQLite


def add_drivers(spark: SparkSession) -> None:
    """Add the drivers of all databases to a session and to those that are made of it."""
    for dialect in (PostgreSQL, SQLite):
        spark.sql(f"ADD JAR 'ivy://{dialect.package}?transitive=false'")
