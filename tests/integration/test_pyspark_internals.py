"""Properties of tasks that millrace expects of Spark beyond its documentation."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming import DataStreamWriter

from millrace.offset_log import OffsetLogEntry
from millrace.pyspark_internals import (
    TRACKS_ASYNCHRONOUSLY,
    micro_batch_id,
    query_run_id,
    session_setting,
    streaming_query_id,
    thread_properties,
)

ASYNCHRONOUS = {"asyncProgressTrackingEnabled": "true", "_asyncProgressTrackingOverrideSinkSupportCheck": "true"}


def test_a_streaming_task_knows_its_query_run_and_micro_batch_and_settings_of_its_session(spark, tmp_path):
    def properties(batches):
        context = TaskContext.get()
        zone = session_setting(context, "spark.sql.session.timeZone")
        found = [streaming_query_id(context), query_run_id(context), micro_batch_id(context), zone]
        for _ in batches:
            yield pa.record_batch({"found": [json.dumps(found)]})

    source = tmp_path / "source"
    source.mkdir()
    rows = spark.readStream.option("maxFilesPerTrigger", 1).text(str(source)).mapInArrow(properties, "found STRING")
    found = []
    query = rows.writeStream.foreachBatch(lambda batch, _: found.extend(batch.collect())).start()
    try:
        for number in range(2):
            (source / f"{number}.txt").write_text("row")
            query.processAllAvailable()
    finally:
        query.stop()
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert [json.loads(row.found) for row in found] == [[query.id, query.runId, number, zone] for number in range(2)]


def test_a_repeated_micro_batch_keeps_the_time_when_it_was_planned(spark, tmp_path):
    source, checkpoint = tmp_path / "source", tmp_path / "checkpoint"
    source.mkdir()
    (source / "0.txt").write_text("row")
    rows = spark.readStream.text(str(source))
    planned = []

    def fail_once(batch, number):
        text = (checkpoint / "offsets" / str(number)).read_text()
        planned.append(OffsetLogEntry.parse(text).planning_time())
        if len(planned) == 1:
            raise ValueError("first attempt")

    writer = rows.writeStream.foreachBatch(fail_once).option("checkpointLocation", str(checkpoint))
    writer = writer.trigger(availableNow=True)
    began = time.time()
    with pytest.raises(StreamingQueryException, match="first attempt"):
        writer.start().awaitTermination()
    writer.start().awaitTermination()
    assert planned[0] == planned[1]
    assert began - 1 < planned[0] < time.time()
    assert [file.name for file in (checkpoint / "offsets").iterdir() if file.name.isdigit()] == ["0"]


def test_callbacks_of_a_stream_are_marked_once_for_each_run(spark, tmp_path, monkeypatch):
    source = tmp_path / "source"
    source.mkdir()
    for number in range(3):
        (source / f"{number}.txt").write_text("row")
    client = spark.sparkContext._gateway._gateway_client
    ask_java, asked = client.send_command, Counter()

    def count_and_ask(*command, **settings):
        asked[threading.get_ident()] += 1
        return ask_java(*command, **settings)

    def asked_by(for_each_batch, mark):
        """Return how often each callback has asked Java before the function was called."""
        counts, marks = [], []

        def count(batch, number):
            counts.append(asked.pop(threading.get_ident()))
            marks.append(thread_properties(batch.sparkSession).getProperty(TRACKS_ASYNCHRONOUSLY))
            asked.clear()

        writer = spark.readStream.option("maxFilesPerTrigger", 1).text(str(source)).writeStream.options(**ASYNCHRONOUS)
        query = for_each_batch(writer, count).start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        assert marks == [mark] * 3
        return counts

    monkeypatch.setattr(client, "send_command", count_and_ask)
    unmarked = asked_by(DataStreamWriter.foreachBatch.__wrapped__, None)
    marked = asked_by(DataStreamWriter.foreachBatch, "true")
    assert marked[0] > unmarked[0]
    assert marked[1:] == unmarked[1:]


def test_a_batch_task_belongs_to_no_query(spark):
    def properties(batches):
        context = TaskContext.get()
        for _ in batches:
            yield pa.record_batch({"found": [json.dumps([streaming_query_id(context), micro_batch_id(context)])]})

    (row,) = spark.range(1, numPartitions=1).mapInArrow(properties, "found STRING").collect()
    assert json.loads(row.found) == ["", 0]
