"""The messages of all dialects on the real broker: a read, SQL and a pipeline give the same rows, and skip the same."""

from __future__ import annotations

from collections import Counter

import pytest

from millrace.change_dialects import SkipReason
from millrace.contracts import SCHEMA_CHANGES, PipelineSink, SinkCapabilities
from millrace.options.parser import OptionParser
from millrace_cdc.connectors.kafka.source import KafkaPipelineSource
from millrace_cdc.run_command import describe_progress
from millrace_cdc.runtime.execution import PipelineJob, start_pipeline
from millrace_sql import TableEnvironment
from support.change_messages import CHANGE_MESSAGES, COLUMNS
from support.kafka import produce

KINDS = {"c": ("-U", "+I"), "u": ("-U", "+U"), "d": ("-D", "+U")}
FORMATS = [
    "debezium-json",
    "canal-json",
    pytest.param("maxwell-json", marks=pytest.mark.nightly),
    pytest.param("ogg-json", marks=pytest.mark.nightly),
]


class RowsSink(PipelineSink):
    """Keep the rows of changes with their kinds."""

    def __init__(self) -> None:
        super().__init__(None)
        self.rows: list[tuple] = []

    @property
    def capabilities(self):
        return SinkCapabilities(frozenset(SCHEMA_CHANGES))

    def apply(self, spark, changes):
        pass

    def write(self, batch):
        for table in batch.tables:
            for change in batch.rows(table).orderBy("partition", "offset").collect():
                for kind, row in zip(KINDS[change.operation], (change.before, change.after), strict=True):
                    if row is not None:
                        self.rows.append((kind, int(row.id), row.v))


@pytest.mark.parametrize("name", FORMATS)
def test_a_read_sql_and_a_pipeline_agree_on_every_message(spark, connection, broker, make_topic, tmp_path, name):
    messages = [
        message
        for message in CHANGE_MESSAGES
        if message.format == name and not message.has_schema and isinstance(message.result, tuple | SkipReason)
    ]
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": message.payload} for message in messages])
    expected = [row for message in messages if isinstance(message.result, tuple) for row in message.result]
    skipped = Counter(message.result for message in messages if isinstance(message.result, SkipReason))

    reader = spark.read.format("millrace").options(**connection, topic=topic, format=name)
    assert [tuple(row) for row in reader.schema(f"row_kind STRING, {COLUMNS}").load().collect()] == expected

    assert rows_of_sql(spark, broker, topic, name) == expected

    rows, progress = rows_of_pipeline(spark, connection, topic, name, tmp_path)
    assert rows == expected
    assert progress.skipped == skipped
    assert describe_progress(progress).count(" tombstone") == 1


def test_they_agree_on_arrays_of_rows(spark, connection, broker, make_topic, tmp_path):
    topic = make_topic()
    messages = (b'{"id": 1, "v": "a"}', b'[{"id": 2, "v": "b"}, null, {"id": 3, "v": "c"}]', b"[]", b'[{"id": 4}]')
    produce(broker.bootstrap_servers, topic, [{"value": message} for message in messages])
    expected = [("+I", 1, "a"), ("+I", 2, "b"), ("+I", 3, "c"), ("+I", 4, None)]

    reader = spark.read.format("millrace").options(**connection, topic=topic, format="json")
    inferred = reader.option("metadata.columns", "offset").load()
    found = [("+I", row.id, row.v, row.offset) for row in inferred.collect()]
    assert found == [(*row, offset) for row, offset in zip(expected, (0, 1, 1, 3), strict=True)]
    assert [("+I", *row) for row in rows_of_sql(spark, broker, topic, "json")] == expected
    assert rows_of_pipeline(spark, connection, topic, "json", tmp_path)[0] == expected


def rows_of_sql(spark, broker, topic, name):
    env = TableEnvironment(spark)
    env.execute_sql(
        f"CREATE TABLE changes ({COLUMNS}) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'format' = '{name}', "
        f"'properties.bootstrap.servers' = '{broker.bootstrap_servers}', 'scan.startup.mode' = 'earliest-offset')"
    )
    query = "SELECT * FROM changes /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */"
    with env.execute_sql(query).collect() as rows:
        return [tuple(row) if name == "json" else (row[-1], *row[:-1]) for row in rows]


def rows_of_pipeline(spark, connection, topic, name, tmp_path):
    given = {"topic": topic, "scan.startup.mode": "earliest-offset", "value.format": name}
    parser = OptionParser("pipeline", {**connection, **given})
    source = KafkaPipelineSource(parser.take(KafkaPipelineSource.Options))
    parser.finish()
    sink = RowsSink()
    running = start_pipeline(PipelineJob(source, sink, frozenset(SCHEMA_CHANGES)), spark, str(tmp_path), once=True)
    running.await_termination()
    return sink.rows, running.progress
