"""Pipelines of change data: changes a second from a topic to a sink that drops all rows, and to tables of Iceberg.

Also what schema changes of one table cost the others, and how long the command takes to write its first change.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.changes import DATABASE, TABLES, change_of_tables, rows_after, with_new_columns
from bench.cpu import cpu_seconds_of
from bench.measure import MILLRACE, Bench, Result, Run, alternate
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
WITH_SCHEMA_CHANGES = f"pipeline of {TABLES} tables, one of which gets a new column ten times"
WITHOUT_SCHEMA_CHANGES = "the same without new columns"
START = f"pipeline of {TABLES} tables, from the start of the command to its first change"

PARTITIONS = 4
TARGET = 100_000
ICEBERG_TARGET = 40_000
SCHEMA_CHANGES_TARGET = 0.95
START_TARGET_S = 15

_CPU = "µs of a core per change"


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
    """Measure whole runs of pipelines by the clock, and the processor time of their JVM and Python workers."""
    messages = lambda start, stop: [change_of_tables(index) for index in range(start, stop)]  # noqa: E731
    with bench.topics.of("changes", PARTITIONS, messages) as topic:
        return [
            _rate(bench, topic),
            _iceberg_rate(bench, topic),
            _rate_with_schema_changes(bench, topic),
            _start(bench),
        ]


def _rate(bench: Bench, topic: str) -> Result:
    series = alternate(bench, WORK, {MILLRACE: lambda: _run(bench, [topic], bench.records, DroppingSink())})
    return Result(WORK, "changes/s", series[MILLRACE], None, TARGET)


def _iceberg_rate(bench: Bench, topic: str) -> Result:
    series = alternate(bench, INTO_ICEBERG, {MILLRACE: lambda: _run_into_iceberg(bench, topic)})
    return Result(INTO_ICEBERG, "changes/s", series[MILLRACE], None, ICEBERG_TARGET)


def _rate_with_schema_changes(bench: Bench, topic: str) -> Result:
    changing = lambda start, stop: [  # noqa: E731
        with_new_columns(change_of_tables(index), index * 11 // bench.records) if index % TABLES == 0 else message
        for index, message in ((index, change_of_tables(index)) for index in range(start, stop))
    ]
    with bench.topics.of("changing", PARTITIONS, changing) as changing_topic:
        contestants = {
            WITHOUT_SCHEMA_CHANGES: lambda: _run(bench, [topic], bench.records, DroppingSink()),
            MILLRACE: lambda: _run(bench, [changing_topic], bench.records, DroppingSink()),
        }
        series = alternate(bench, WITH_SCHEMA_CHANGES, contestants)
    with_changes, without = series[MILLRACE], series[WITHOUT_SCHEMA_CHANGES]
    return Result(
        WITH_SCHEMA_CHANGES, "changes/s", with_changes, without, SCHEMA_CHANGES_TARGET, base=WITHOUT_SCHEMA_CHANGES
    )


def _start(bench: Bench) -> Result:
    messages = [change_of_tables(index) for index in range(10 * TABLES)]
    with bench.topics.empty(PARTITIONS) as topic:
        bench.topics.fill_keyed(topic, PARTITIONS, ((b"", message) for message in messages))
        series = alternate(bench, START, {MILLRACE: lambda: _start_seconds(bench, topic)})
    return Result(START, "s", series[MILLRACE], None, START_TARGET_S, at_most=True)


def _start_seconds(bench: Bench, topic: str) -> float:
    """Run the command in a process of its own, from Kafka to Kafka, and return when its first change was written."""
    with tempfile.TemporaryDirectory() as folder, bench.topics.empty(PARTITIONS) as target:
        file = Path(folder, "pipeline.yaml")
        file.write_text(_definition(bench.servers, topic, target))
        command = [str(Path(sys.executable).with_name("millrace")), "run", str(file), "--once"]
        with bench.topics.reading(target, PARTITIONS) as consumer:
            started = time.perf_counter()
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                written = None
                while written is None and process.poll() is None:
                    message = consumer.poll(0.05)
                    written = message if message is not None and message.error() is None else None
                seconds = time.perf_counter() - started
        if process.returncode or written is None:
            raise RuntimeError(f"millrace run ended with exit code {process.returncode}, and its change was not seen")
        return seconds


def _definition(servers: str, topic: str, target: str) -> str:
    kafka = f"type: kafka, properties.bootstrap.servers: '{servers}'"
    return (
        f"source: {{{kafka}, topic: {topic}, scan.startup.mode: earliest-offset}}\n"
        f"sink: {{{kafka}, topic: {target}}}\n"
        "transform: [{source-table: '\\.*.\\.*', primary-keys: id}]\n"
    )


def _run_into_iceberg(bench: Bench, topic: str) -> Run:
    from millrace_cdc.connectors.iceberg.options import IcebergSinkOptions
    from millrace_cdc.connectors.iceberg.sink import IcebergPipelineSink

    with tempfile.TemporaryDirectory() as warehouse:
        properties = (("type", "hadoop"), ("warehouse", warehouse))
        sink = IcebergPipelineSink(IcebergSinkOptions(catalog_properties=properties))
        run = _run(bench, [topic], bench.records, sink)
        if not bench.records % (10 * TABLES):
            _check_rows(bench, warehouse)
    return run


def _check_rows(bench: Bench, warehouse: str) -> None:
    """Compare the rows of tables, of one micro-batch each, with those that the changes leave."""
    iceberg = bench.spark._jvm.org.apache.iceberg
    catalog = iceberg.hadoop.HadoopCatalog(bench.spark._jsparkSession.sessionState().newHadoopConf(), warehouse)
    names = (iceberg.catalog.TableIdentifier.parse(f"{DATABASE}.table_{number}") for number in range(TABLES))
    rows = sum(int(catalog.loadTable(name).currentSnapshot().summary().get("total-records")) for name in names)
    if rows != rows_after(bench.records):
        raise RuntimeError(f"the tables have {rows} rows instead of {rows_after(bench.records)}")


def _run(bench: Bench, topics: Iterable[str], changes: int, sink: PipelineSink) -> Run:
    """Run a pipeline through all messages of topics, and return its changes a second, with their processor time."""
    seconds: list[float] = []
    progress: list[PipelineProgress] = []

    def timed() -> None:
        started = time.perf_counter()
        progress.append(run_pipeline(bench, topics, sink))
        seconds.append(time.perf_counter() - started)

    cpu_s = cpu_seconds_of(timed)
    rows = sum(table.rows for table in progress[-1].tables.values())
    if rows != changes:
        raise RuntimeError(f"the pipeline saw {rows} changes instead of {changes}")
    return Run(changes / seconds[-1], {_CPU: cpu_s / changes * 1e6})


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
