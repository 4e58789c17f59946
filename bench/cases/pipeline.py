"""Pipelines of change data: processor time from the topic to a sink that drops all rows, and to tables of Iceberg."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from bench.changes import DATABASE, TABLES, change_of_tables, rows_after
from bench.cpu import cpu_seconds_of
from bench.measure import MILLRACE, Bench, Result, alternate
from millrace.contracts import (
    CHANGE_BATCH_COLUMNS,
    SCHEMA_CHANGES,
    ChangeBatch,
    PipelineSchemaChange,
    PipelineSink,
    SinkCapabilities,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_cdc.runtime.micro_batch import PipelineProgress

WORK = f"pipeline of {TABLES} tables, from debezium-json to no sink"
INTO_ICEBERG = f"pipeline of {TABLES} tables, from debezium-json to Iceberg"
PARTITIONS = 4
TARGET_US = 20.0
"""Two cores have 20 µs for each of 100,000 changes a second."""

ICEBERG_TARGET_US = 50.0
"""And 50 µs for each of 40,000."""


class DroppingSink(PipelineSink):
    """Take all rows from the executors, and drop them."""

    def __init__(self) -> None:
        super().__init__(None)

    @property
    def capabilities(self) -> SinkCapabilities:
        """All schema changes."""
        return SinkCapabilities(frozenset(SCHEMA_CHANGES))

    def apply(self, spark: SparkSession, changes: Sequence[PipelineSchemaChange]) -> None:
        """Do nothing."""

    def write(self, batch: ChangeBatch) -> None:
        """Drop the rows of a micro-batch, converted and as Spark has them."""
        batch.map(lambda changes: changes, CHANGE_BATCH_COLUMNS).write.format("noop").mode("overwrite").save()


def run(bench: Bench) -> list[Result]:
    """Measure a whole run of a pipeline: its JVM and its Python workers, which are not those of the driver."""
    messages = lambda start, stop: [change_of_tables(index) for index in range(start, stop)]  # noqa: E731
    with bench.topics.of("changes", PARTITIONS, messages) as topic:
        return [
            _measure(bench, WORK, TARGET_US, lambda: _cpu_us(bench, [topic], bench.records, DroppingSink())),
            _measure(bench, INTO_ICEBERG, ICEBERG_TARGET_US, lambda: _iceberg_cpu_us(bench, topic)),
        ]


def _measure(bench: Bench, work: str, target: float, measured: Callable[[], float]) -> Result:
    series = alternate(bench, work, {MILLRACE: measured})
    return Result(work, "µs of a core per change", series[MILLRACE], None, target, at_most=True)


def _iceberg_cpu_us(bench: Bench, topic: str) -> float:
    from millrace_cdc.connectors.iceberg.options import IcebergSinkOptions
    from millrace_cdc.connectors.iceberg.sink import IcebergPipelineSink

    with tempfile.TemporaryDirectory() as warehouse:
        properties = (("type", "hadoop"), ("warehouse", warehouse))
        sink = IcebergPipelineSink(IcebergSinkOptions(catalog_properties=properties))
        found = _cpu_us(bench, [topic], bench.records, sink)
        if not bench.records % (10 * TABLES):
            _check_rows(bench, warehouse)
    return found


def _check_rows(bench: Bench, warehouse: str) -> None:
    """Compare the rows of tables, of one micro-batch each, with those that the changes leave."""
    iceberg = bench.spark._jvm.org.apache.iceberg
    catalog = iceberg.hadoop.HadoopCatalog(bench.spark._jsparkSession.sessionState().newHadoopConf(), warehouse)
    names = (iceberg.catalog.TableIdentifier.parse(f"{DATABASE}.table_{number}") for number in range(TABLES))
    rows = sum(int(catalog.loadTable(name).currentSnapshot().summary().get("total-records")) for name in names)
    if rows != rows_after(bench.records):
        raise RuntimeError(f"the tables have {rows} rows instead of {rows_after(bench.records)}")


def _cpu_us(bench: Bench, topics: Iterable[str], changes: int, sink: PipelineSink) -> float:
    """Run a pipeline through all messages of topics, and return the processor time of a change in microseconds."""
    found: list[PipelineProgress] = []
    seconds = cpu_seconds_of(lambda: found.append(run_pipeline(bench, topics, sink)))
    rows = sum(table.rows for table in found[-1].tables.values())
    if rows != changes:
        raise RuntimeError(f"the pipeline saw {rows} changes instead of {changes}")
    return seconds / changes * 1e6


def run_pipeline(bench: Bench, topics: Iterable[str], sink: PipelineSink) -> PipelineProgress:
    """Run a pipeline through all messages of topics, from a checkpoint of its own.

    Args:
        bench: The tools.
        topics: Topics of changes in debezium-json.
        sink: The sink; its tables have the primary key ``id``.
    """
    from millrace_cdc.connectors.kafka.source import KafkaPipelineSource
    from millrace_cdc.connectors.kafka.source_options import KafkaSourceOptions
    from millrace_cdc.definitions.rules import TransformRule
    from millrace_cdc.runtime.execution import PipelineJob, start_pipeline

    options = KafkaSourceOptions(bootstrap_servers=bench.servers, topics=tuple(topics), startup_mode="earliest-offset")
    keys = TransformRule(source_table=r"\.*.\.*", primary_keys=("id",))
    job = PipelineJob(KafkaPipelineSource(options), sink, frozenset(SCHEMA_CHANGES), transforms=[keys])
    with tempfile.TemporaryDirectory() as checkpoint:
        running = start_pipeline(job, bench.spark, checkpoint, once=True)
        running.await_termination()
        return running.progress
