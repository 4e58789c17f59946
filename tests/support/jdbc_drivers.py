"""JDBC drivers for a session that runs already."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_catalog.sinks.jdbc.sqlite import SQLite
from support.maven import Artifact, fetch_jars


def driver_jars() -> list[Path]:
    """Return the drivers of all databases."""
    coordinates = [dialect.package.split(":") for dialect in (PostgreSQL, SQLite)]
    name = "-".join(["drivers", *(version for *_, version in coordinates)])
    return fetch_jars(name, [Artifact(*each, is_alone=True) for each in coordinates])


def add_drivers(spark: SparkSession) -> None:
    """Add the drivers to a session and to those that are made of it."""
    for jar in driver_jars():
        spark.sql(f"ADD JAR '{jar}'")
