"""A user's program, which type checkers accept in their strict modes: see `tox -e types`."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import millrace
from millrace.contracts import MetricsReporter, QueryReport, RecordPartitioner
from millrace.errors import DataLossError, MillraceError
from millrace.options import option
from millrace.typed_options import JsonSinkOptions, JsonSourceOptions, PlainSourceOptions
from millrace_sql import TableEnvironment

ORDERS: JsonSourceOptions = {
    "properties.bootstrap.servers": "localhost:9092",
    "topic": "orders",
    "format": "json",
    "json.ignore-parse-errors": True,
    "scan.startup.mode": "earliest-offset",
    "scan.max-records-per-batch": 10_000,
    "metadata.columns": "timestamp AS event_time, traceparent",
}
COPY: JsonSinkOptions = {
    "properties.bootstrap.servers": "localhost:9092",
    "topic": "copied-orders",
    "format": "json",
    "sink.delivery-guarantee": "exactly-once",
    "sink.transactional-id-prefix": "copy",
}
RAW: PlainSourceOptions = {"properties.bootstrap.servers": "localhost:9092", "topic": "orders"}


@dataclass(frozen=True)
class ByLengthOptions:
    """The options of `ByLength`."""

    modulus: int = option("modulus", default=3, doc="The number of partitions that are used.")


class ByLength(RecordPartitioner):
    """Choose a partition by the length of the value."""

    Options = ByLengthOptions
    options: ByLengthOptions

    def partition_record(self, topic: str, key: bytes | None, value: bytes | None, partition_count: int) -> int:
        """Return the partition of a record."""
        return len(value or b"") % min(self.options.modulus, partition_count)


class Printed(MetricsReporter):
    """Print the lag."""

    def report(self, report: QueryReport) -> None:
        """Print a line for each report."""
        print(report.query, sum(source.pending_records for source in report.sources))


def copy(spark: SparkSession) -> StreamingQuery:
    """Copy orders from topic to topic."""
    orders = spark.readStream.format("millrace").options(**ORDERS).schema("id BIGINT, amount DOUBLE").load()
    return orders.writeStream.format("millrace").options(**COPY).start()


def count(spark: SparkSession) -> int:
    """Count messages, built as in PyFlink."""
    builder = millrace.KafkaSource.builder().set_bootstrap_servers("localhost:9092").set_topics("orders")
    source = builder.set_bounded(millrace.KafkaOffsetsInitializer.latest()).build()
    rows: DataFrame = source.load(spark)
    return rows.count() + spark.read.format("millrace").options(**RAW).load().count()


def main() -> None:
    """Run it all."""
    spark = millrace.local_session()
    environment = TableEnvironment(spark)
    environment.execute_sql("SHOW TABLES").print()
    with millrace.ui(spark, port=0), millrace.report_metrics(spark, "prometheus", {"port": "0"}) as reports:
        print(reports.reporter)
        query = copy(spark)
        try:
            query.processAllAvailable()
            metrics = millrace.metrics(query)
            print(metrics.to_dict(), [source.pending_records for source in metrics.sources])
            print(millrace.why(query))
        except DataLossError as error:
            print(error)
        except MillraceError as error:
            print(error)
            raise
        finally:
            query.stop()


if __name__ == "__main__":
    main()
