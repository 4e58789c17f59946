"""Run pipelines into tables of Iceberg, in a session that has its library.

A JSON object names the warehouse, the checkpoint, and runs: each with its file, and the place where it fails. Each run
prints a line of JSON: its error, the warnings, and for each table the columns, the rows as Iceberg's own reader has
them, and the numbers of snapshots and delete files.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

import millrace
from millrace.errors import MillraceError
from millrace_cdc import Pipeline
from millrace_cdc.connectors.iceberg import sink as sink_module
from millrace_cdc.connectors.iceberg.catalog import PACKAGE, IcebergTable

COMMIT = IcebergTable.commit
WRITE = sink_module.IcebergPipelineSink.write
FIRST_IS_COMMITTED = threading.Event()


def main() -> None:
    """Run all."""
    given = json.loads(sys.argv[1])
    session = millrace.local_session(
        "iceberg",
        cores=2,
        config={
            "spark.jars.packages": PACKAGE,
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.log.level": "OFF",
            "spark.sql.catalog.lake.type": "hadoop",
            "spark.sql.catalog.lake.warehouse": given["warehouse"],
        },
    )
    warnings: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: warnings.append(record.getMessage())
    logging.getLogger("millrace.pipelines").addHandler(handler)
    make_foreign_table(session, given["warehouse"])
    for each in given["runs"]:
        warnings.clear()
        error = run(session, given["checkpoint"], each)
        result = {"error": error, "warnings": list(warnings), "tables": tables(session, given["warehouse"])}
        print(json.dumps(result), flush=True)
    session.stop()


def make_foreign_table(session: SparkSession, warehouse: str) -> None:
    """Create a table as others do: divided from the start, with a wider type than the pipeline's and another column."""
    iceberg = session._jvm.org.apache.iceberg
    catalog = iceberg.hadoop.HadoopCatalog(session._jsparkSession.sessionState().newHadoopConf(), warehouse)
    name = iceberg.catalog.TableIdentifier.parse("shop.foreign")
    if not catalog.tableExists(name):
        types = {"own": "string", "day": "date", "id": "long", "n": "double"}
        fields = [
            {"id": number, "name": column, "required": False, "type": type_}
            for number, (column, type_) in enumerate(types.items(), start=1)
        ]
        schema = iceberg.SchemaParser.fromJson(json.dumps({"type": "struct", "fields": fields}))
        spec = iceberg.PartitionSpec.builderFor(schema).month("day").build()
        catalog.buildTable(name, schema).withPartitionSpec(spec).withProperty("format-version", "2").create()


def run(session: SparkSession, checkpoint: str, given: dict[str, Any]) -> str | None:
    """Run a pipeline to its end; return its error."""
    fail(given.get("fails"), given.get("truncated"))
    pipeline = Pipeline.from_yaml(given["file"])
    try:
        running = pipeline.run(session, checkpoint_location=checkpoint, once=True)
        running.await_termination()
    except (StreamingQueryException, MillraceError) as error:
        return str(error)
    return None


def fail(place: str | None, truncated: str | None) -> None:
    """Let the sink fail at a place, or be killed there; and empty a table, as TRUNCATE does."""

    def commit(table: IcebergTable, *arguments: Any, **named: Any) -> Any:
        if place == "one table is committed" and table._id != "shop.a":
            FIRST_IS_COMMITTED.wait()
            os.kill(os.getpid(), signal.SIGKILL)
        committed = COMMIT(table, *arguments, **named)
        FIRST_IS_COMMITTED.set()
        return committed

    def write(sink: Any, batch: Any) -> None:
        batch.truncated = frozenset({truncated} - {None})
        WRITE(sink, batch)
        if place == "all tables are committed":
            raise RuntimeError(place)

    IcebergTable.commit = commit
    sink_module.IcebergPipelineSink.write = write


def tables(session: SparkSession, warehouse: str) -> dict[str, Any]:
    """Read all tables by Iceberg's own reader."""
    jvm = session._jvm
    iceberg = jvm.org.apache.iceberg
    catalog = iceberg.hadoop.HadoopCatalog(session._jsparkSession.sessionState().newHadoopConf(), warehouse)
    namespace = iceberg.catalog.TableIdentifier.parse("shop.any").namespace()
    return {each.name(): table(iceberg, catalog.loadTable(each)) for each in catalog.listTables(namespace)}


def table(iceberg: Any, java: Any) -> dict[str, Any]:
    """Read a table."""
    rows = []
    iterator = iceberg.data.IcebergGenerics.read(java).build().iterator()
    while iterator.hasNext():
        rows.append(iterator.next().toString().removeprefix("Record"))
    snapshot = java.currentSnapshot()
    schema = json.loads(iceberg.SchemaParser.toJson(java.schema()))
    spec = json.loads(iceberg.PartitionSpecParser.toJson(java.spec()))
    return {
        "columns": {each["name"]: each["type"] for each in schema["fields"]},
        "partition": [each["transform"] for each in spec["fields"]],
        "rows": sorted(rows),
        "snapshots": sum(1 for _ in java.snapshots()),
        "delete_files": int(dict(snapshot.summary()).get("total-delete-files", 0)) if snapshot else 0,
    }


if __name__ == "__main__":
    main()
