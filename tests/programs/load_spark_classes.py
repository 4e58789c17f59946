"""Let Spark's JVM load the classes that drivers of tests use, and end it; its arguments may have it archive them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    InputPartition,
    WriterCommitMessage,
)

import millrace


class Numbers(DataSource):
    """A hundred numbers, or nothing that is written."""

    @classmethod
    def name(cls) -> str:
        return "numbers"

    def schema(self) -> str:
        return "number BIGINT, at TIMESTAMP"

    def streamReader(self, schema: object) -> DataSourceStreamReader:
        return NumbersReader()

    def streamWriter(self, schema: object, overwrite: bool) -> DataSourceStreamWriter:
        return Nowhere()


class NumbersReader(DataSourceStreamReader):
    """Reads the numbers in one micro-batch."""

    def initialOffset(self) -> dict[str, int]:
        return {"end": 0}

    def latestOffset(self) -> dict[str, int]:
        return {"end": 100}

    def partitions(self, start: object, end: object) -> list[InputPartition]:
        return [InputPartition(0), InputPartition(1)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        numbers = pa.array(range(100), pa.int64())
        times = pa.array(range(100), pa.timestamp("us", "UTC"))
        yield pa.RecordBatch.from_arrays([numbers, times], ["number", "at"])


class Nowhere(DataSourceStreamWriter):
    """Writes nothing."""

    def write(self, iterator: object) -> WriterCommitMessage:
        return WriterCommitMessage()


def run_stream(rows: DataFrame, sink: str, folder: str, mode: str = "append") -> None:
    """Run a query over one micro-batch."""
    options = {"checkpointLocation": f"{folder}/checkpoint-{sink}-{mode}", "path": f"{folder}/{sink}"}
    writer = rows.writeStream.options(**options).outputMode(mode).trigger(availableNow=True)
    query = (writer.foreachBatch(count) if sink == "callback" else writer.format(sink)).start()
    query.awaitTermination()


def count(rows: DataFrame, batch: int) -> None:
    """Count the rows of a micro-batch."""
    rows.persist().count()
    rows.unpersist()


def load_classes(spark: SparkSession, folder: str) -> None:
    """Run what tests run: streams from and to Python, with state and without, files, SQL and Arrow."""
    spark.dataSource.register(Numbers)
    numbers = spark.readStream.format("numbers").load()
    totals = numbers.withWatermark("at", "1 second").groupBy(sf.window("at", "1 second")).agg(sf.sum("number"))
    run_stream(numbers, "parquet", folder)
    run_stream(numbers, "numbers", folder)
    run_stream(numbers, "callback", folder)
    run_stream(totals, "noop", folder, "update")
    saved = spark.read.parquet(f"{folder}/parquet")
    saved.selectExpr("TO_JSON(STRUCT(*)) AS value", "CAST(STRING(number) AS BINARY)").orderBy("value").toArrow()
    saved.join(spark.range(10), sf.expr("number = id")).mapInArrow(lambda batches: batches, "number BIGINT").collect()
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
