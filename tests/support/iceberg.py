"""Iceberg's library in a session that runs already, and its own reader of tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from millrace_cdc.connectors.iceberg.catalog import PACKAGE
from support.maven import Artifact, fetch_jars

_LOADER = "org.apache.spark.util.MutableURLClassLoader"


def iceberg_jar() -> Path:
    """Return the jar of the library."""
    group, name, version = PACKAGE.split(":")
    (jar,) = fetch_jars(f"{name}-{version}", [Artifact(group, name, version, is_alone=True)])
    return jar


def add_iceberg(spark: SparkSession) -> None:
    """Add the library to the driver of a session, where ``spark.jars.packages`` would have put it at the start."""
    jvm: Any = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    while loader.getClass().getName() != _LOADER:
        loader = loader.getParent()
    loader.addURL(jvm.java.io.File(str(iceberg_jar())).toURI().toURL())


class Warehouse:
    """Tables of a catalog in a folder, all of one namespace.

    Args:
        spark: A session with the library.
        path: The folder.
        namespace: The namespace.
    """

    def __init__(self, spark: SparkSession, path: str, namespace: str) -> None:
        jvm: Any = spark._jvm
        session: Any = spark._jsparkSession
        self._iceberg = jvm.org.apache.iceberg
        self._catalog = self._iceberg.hadoop.HadoopCatalog(session.sessionState().newHadoopConf(), path)
        self._namespace = namespace

    def create(self, name: str, columns: dict[str, str], *, month: str) -> None:
        """Create a table as others do: divided from the start, by the month of a column."""
        fields = [
            {"id": number, "name": column, "required": False, "type": type_}
            for number, (column, type_) in enumerate(columns.items(), start=1)
        ]
        schema = self._iceberg.SchemaParser.fromJson(json.dumps({"type": "struct", "fields": fields}))
        spec = self._iceberg.PartitionSpec.builderFor(schema).month(month).build()
        builder = self._catalog.buildTable(self._identifier(name), schema).withPartitionSpec(spec)
        builder.withProperty("format-version", "2").create()

    def tables(self) -> dict[str, dict[str, Any]]:
        """Read all tables: their columns, rows, transforms of partitions, numbers of snapshots and delete files."""
        listed = self._catalog.listTables(self._identifier("any").namespace())
        return {each.name(): self._table(self._catalog.loadTable(each)) for each in listed}

    def _identifier(self, name: str) -> Any:
        return self._iceberg.catalog.TableIdentifier.parse(f"{self._namespace}.{name}")

    def _table(self, java: Any) -> dict[str, Any]:
        rows = []
        iterator = self._iceberg.data.IcebergGenerics.read(java).build().iterator()
        while iterator.hasNext():
            rows.append(iterator.next().toString().removeprefix("Record"))
        snapshot = java.currentSnapshot()
        schema = json.loads(self._iceberg.SchemaParser.toJson(java.schema()))
        spec = json.loads(self._iceberg.PartitionSpecParser.toJson(java.spec()))
        return {
            "columns": {each["name"]: each["type"] for each in schema["fields"]},
            "partition": [each["transform"] for each in spec["fields"]],
            "rows": sorted(rows),
            "snapshots": sum(1 for _ in java.snapshots()),
            "delete_files": int(dict(snapshot.summary()).get("total-delete-files", 0)) if snapshot else 0,
        }
