"""Properties of tasks that millrace expects of Spark beyond its documentation."""

from __future__ import annotations

import json

import pyarrow as pa
from pyspark import TaskContext

from millrace.pyspark_internals import micro_batch_id, query_run_id, session_setting, streaming_query_id


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


def test_a_batch_task_belongs_to_no_query(spark):
    def properties(batches):
        context = TaskContext.get()
        for _ in batches:
            yield pa.record_batch({"found": [json.dumps([streaming_query_id(context), micro_batch_id(context)])]})

    (row,) = spark.range(1, numPartitions=1).mapInArrow(properties, "found STRING").collect()
    assert json.loads(row.found) == ["", 0]
