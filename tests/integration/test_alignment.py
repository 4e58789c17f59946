"""Aligned reading on the real broker: what it is for, and that it reads everything."""

from __future__ import annotations

import pytest
from pyspark.sql.functions import window

from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.source.enumerator.admission_control import AdmissionControl
from millrace.source.enumerator.alignment import Alignment
from millrace.source.enumerator.record_probe import RecordProbe
from support.clock import Clock
from support.kafka import produce
from support.waiting import PATIENCE_S

START_MS = 1_700_000_000_000

# How far apart the records of each of four partitions are: backlogs of very different speed
SPACING_MS = (1_000, 10_000, 60_000, 2_000)
RECORDS = 60


@pytest.fixture
def skewed(broker, make_topic):
    topic = make_topic(len(SPACING_MS))
    for partition, spacing in enumerate(SPACING_MS):
        stamps = [START_MS + number * spacing for number in range(RECORDS)]
        records = [{"value": b"v", "partition": partition, "timestamp": stamp} for stamp in stamps]
        produce(broker.bootstrap_servers, topic, records)
    return topic


@pytest.fixture
def count(spark, connection, skewed, tmp_path):
    """Count the records in windows of a minute: how many in windows that are over, how many dropped as late."""

    def run(**options):
        read = {"scan.startup.mode": "earliest-offset", "scan.max-records-per-batch": "40", **options}
        rows = spark.readStream.format("millrace").options(**connection, topic=skewed, **read).load()
        timed = rows.withWatermark("timestamp", "0 seconds")
        query = (
            timed.groupBy(window("timestamp", "1 minute"))
            .count()
            .select("count")
            .writeStream.format("parquet")
            .options(path=str(tmp_path / "out"), checkpointLocation=str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(PATIENCE_S)
        dropped = sum(state.numRowsDroppedByWatermark for each in query.recentProgress for state in each.stateOperators)
        counted = sum(row["count"] for row in spark.read.parquet(str(tmp_path / "out")).collect())
        return counted, dropped, [each.numInputRows for each in query.recentProgress if each.numInputRows]

    return run


@pytest.mark.nightly
def test_without_alignment_a_watermark_drops_rows_of_the_partitions_behind(count):
    counted, dropped, _ = count()
    assert dropped > 0
    assert counted < len(SPACING_MS) * RECORDS - 1


def test_with_alignment_no_row_is_dropped(count):
    counted, dropped, batches = count(**{"scan.watermark.alignment.max-drift": "10 min"})
    # The last record is in a window that is not over
    assert (counted, dropped) == (len(SPACING_MS) * RECORDS - 1, 0)
    assert len(batches) > 5


def test_a_quiet_partition_holds_the_others_back_until_it_is_idle(broker, make_topic):
    topic, clock = make_topic(2), Clock()
    for partition, seconds in ((0, [0, 5, 12, 100]), (1, [3])):
        records = [{"value": b"v", "partition": partition, "timestamp": START_MS + 1000 * each} for each in seconds]
        produce(broker.bootstrap_servers, topic, records)
    options = {"scan.watermark.alignment.max-drift": "10 s", "scan.watermark.idle-timeout": "5 s"}
    config = configure_source({"properties.bootstrap.servers": broker.bootstrap_servers, "topic": topic, **options})
    cluster, quick, quiet = KafkaAdmin(config.client), TopicPartition(topic, 0), TopicPartition(topic, 1)
    probe, available = RecordProbe(config.client), cluster.end([quick, quiet])
    admission_control = AdmissionControl(
        config.options, probe, Alignment.of(config.options, cluster, probe, clock), clock
    )

    first = admission_control.end({quick: 0, quiet: 0}, available, draining=False)
    second = admission_control.end(first, available, draining=False)
    assert (first, second) == ({quick: 2, quiet: 1}, {quick: 3, quiet: 1})
    assert admission_control.end(second, available, draining=False) == second
    clock.now += 5
    assert admission_control.end(second, available, draining=False) == {quick: 4, quiet: 1}
