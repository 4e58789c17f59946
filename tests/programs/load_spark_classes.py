"""Let Spark's JVM load the classes that drivers of tests use, and end it, whereupon it archives them.

Its arguments are two paths: where Java's options have it write the archive, and where a complete one belongs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import millrace
from millrace_sql.connectors.datagen.data_source import RowNumbers


def run_stream(rows: DataFrame, sink: str, folder: str, mode: str = "append") -> None:
    """Run a query over one micro-batch."""
    options = {"checkpointLocation": f"{folder}/checkpoint-{sink}", "path": f"{folder}/{sink}"}
    writer = rows.writeStream.options(**options).outputMode(mode).trigger(availableNow=True)
    (writer.foreachBatch(count) if sink == "callback" else writer.format(sink)).start().awaitTermination()


def count(rows: DataFrame, batch: int) -> None:
    """Count the rows of a micro-batch."""
    rows.persist().count()
    rows.unpersist()


def load_classes(spark: SparkSession, folder: str) -> None:
    """Run what tests run: streams from Python, with state and without, files, SQL and Arrow."""
    spark.dataSource.register(RowNumbers)
    source = {"rows-per-second": "100", "number-of-rows": "100", "tasks": "2"}
    numbers = spark.readStream.format(RowNumbers.name()).options(**source).load()
    times = numbers.withColumn("at", sf.timestamp_seconds("row_number"))
    totals = times.withWatermark("at", "1 second").groupBy(sf.window("at", "9 seconds")).agg(sf.sum("row_number"))
    run_stream(times, "parquet", folder)
    run_stream(times, "callback", folder)
    run_stream(totals, "noop", folder, "update")
    saved = spark.read.parquet(f"{folder}/parquet")
    saved.selectExpr("TO_JSON(STRUCT(*)) AS value", "CAST(STRING(at) AS BINARY)").orderBy("value").toArrow()
    joined = saved.join(spark.range(9), sf.expr("row_number = id"))
    joined.mapInArrow(lambda batches: batches, joined.schema).collect()
    spark.createDataFrame([(1, "a")], "id INT, name STRING").createOrReplaceTempView("names")
    spark.sql("SELECT name, COUNT(*) FROM names GROUP BY name").collect()


with tempfile.TemporaryDirectory() as work:
    session = millrace.local_session("load classes", cores=2, config={"spark.sql.warehouse.dir": f"{work}/warehouse"})
    load_classes(session, work)
    session.stop()
    # Java writes the archive when it ends, which it does with its standard input
    java = SparkContext._gateway.proc
    java.stdin.close()
    java.wait()

Path(sys.argv[1]).replace(sys.argv[2])
