"""Queries whose columns follow their messages, on a real broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

import millrace
from millrace import KafkaSource
from millrace.contracts.query_schemas import QUERY_SCHEMAS, SchemaVersion
from millrace.errors import OptionsError, SchemaChangedError, SchemaError
from millrace.streams import SOURCE_EVOLUTION
from millrace_catalog import KafkaJsonCatalog, restart_on_schema_change
from millrace_catalog.evolution import TableCreation
from support.kafka import produce
from support.waiting import PATIENCE_S, wait_until

EARLIEST = {"scan.startup.mode": "earliest-offset"}


class Evolving:
    """A topic, and a query that follows it and keeps what each micro-batch gave last.

    Args:
        spark: The session.
        connection: The option that says where the broker is.
        topic: The topic.
        folder: Where the checkpoint is.
    """

    def __init__(self, spark: Any, connection: dict[str, Any], topic: str, folder: Path) -> None:
        self._spark = spark
        self._connection = connection
        self._servers = connection["properties.bootstrap.servers"]
        self.checkpoint = str(folder / "checkpoint")
        self.topic = topic
        self.batches: dict[int, list[dict[str, Any]]] = {}

    def write(self, *messages: Any, partition: int = 0) -> None:
        """Write messages: JSON values, bytes, or records."""
        produce(self._servers, self.topic, [{"partition": partition, **record(each)} for each in messages])

    def table(self, **options: str) -> Any:
        """The topic as a table, inferred anew."""
        return KafkaJsonCatalog.from_options({**self._connection, **options}).table(self.topic)

    def run(self, table: Any = None, options: Any = EARLIEST, *, ends: bool = True) -> Any:
        """Start, or go on with, the query; by default it ends where the topic does."""

        def start(rows: Any, schema: Any) -> Any:
            assert rows.columns == list(schema.names)
            writer = rows.writeStream.foreachBatch(self._take).option("checkpointLocation", self.checkpoint)
            return (writer.trigger(availableNow=True) if ends else writer).start()

        return restart_on_schema_change(
            table or self.table(),
            start,
            spark=self._spark,
            checkpoint_location=self.checkpoint,
            options=options,
        )

    def _take(self, rows: Any, number: int) -> None:
        self.batches[number] = [row.asDict(recursive=True) for row in rows.collect()]

    def rows(self, *names: str) -> list[tuple[Any, ...]]:
        """Some columns of all rows, by partition and offset."""
        found = [row for _, batch in sorted(self.batches.items()) for row in batch]
        found.sort(key=lambda row: (row["partition"], row["offset"]))
        return [tuple(row.get(name) for name in names) for row in found]


def record(message: Any) -> dict[str, Any]:
    if message is None or (isinstance(message, dict) and "value" in message):
        return message or {"value": None}
    return {"value": message if isinstance(message, bytes) else json.dumps(message).encode()}


@pytest.fixture
def evolving(spark, connection, make_topic, tmp_path) -> Callable[..., Evolving]:
    return lambda partitions=1: Evolving(spark, connection, make_topic(partitions), tmp_path)


def test_columns_and_keys_follow_the_messages(evolving):
    topic = evolving(2)
    topic.write({"id": 1, "n": 1}, {"id": 2, "n": None}, {"id": 3, "n": 1.5})
    before = topic.table()
    topic.write({"key": b'{"k": 1}', "value": b'{"id": 4, "n": 2}'}, {"id": 5, "note": "x"}, {"id": 6, "later": None})
    topic.write({"id": 7, "n": 2, "at": "2020-12-30 12:13:14"}, {"id": "8"}, {"id": 9, "note": True}, partition=1)

    with topic.run(before) as query:
        assert query.await_termination(120)
    assert query.restarts == 1
    names = ["id", "n", "partition", "offset", "timestamp", "key_k", "note", "at"]
    assert list(query.schema.names) == names
    created, added_key, added_note, added_at, widened = query.changes
    assert isinstance(created, TableCreation)
    assert [str(each.columns[0]) for each in (added_key, added_note, added_at)] == [
        "key_k BIGINT",
        "note STRING",
        "at TIMESTAMP(6)",
    ]
    assert str(widened.cause) == "partition 1, offset 1"
    shown = QUERY_SCHEMAS.schema(query.query.id)
    assert (shown.table, shown.restarts, len(shown.versions)) == (topic.topic, 1, 5)
    assert shown.versions[2] == SchemaVersion(3, "added", ("note STRING",), str(added_note.cause))
    assert shown.versions[4].columns == ("id BIGINT → STRING",)
    in_order = [
        ("1", 1.0, None, None),
        ("2", None, None, None),
        ("3", 1.5, None, None),
        ("4", 2.0, 1, None),
        ("5", None, None, "x"),
        ("6", None, None, None),
        ("7", 2.0, None, None),
        ("8", None, None, None),
        ("9", None, None, "true"),
    ]
    assert topic.rows("id", "n", "key_k", "note") == in_order

    topic.write({"key": b'{"k": 2, "l": true}', "value": b'{"late": [1, 2.5]}'}, None)
    with topic.run() as query:
        assert query.await_termination(120)
    assert query.restarts == 1
    assert list(query.schema.names) == [*names, "key_l", "late"]
    assert query.changes[:5] == (created, added_key, added_note, added_at, widened)
    assert topic.rows("id", "n", "key_k", "note") == [*in_order[:6], (None, None, 2, None), *in_order[6:]]
    assert topic.rows("key_l", "late")[6] == (True, [1.0, 2.5])


@pytest.mark.nightly
def test_what_comes_while_a_stream_waits_for_its_first_rows_is_not_lost(evolving):
    topic = evolving()
    topic.write({"id": 1})
    with topic.run(options={}, ends=False) as query:
        wait_until(lambda: query.query.lastProgress or query.exception(), "the query to look")
        topic.write({"id": 2, "new": 1}, {"id": 3})
        wait_until(lambda: len(topic.rows("id")) == 2 or query.exception(), "the rows")
        assert not query.await_termination(0)
    assert query.await_termination()
    assert query.restarts == 1
    assert topic.rows("id", "new") == [(2, 1), (3, None)]


@pytest.mark.nightly
def test_new_fields_are_rescued_until_the_query_is_started_with_a_fresh_table(evolving, tmp_path):
    topic = evolving()
    rescues = {"json.rescued-data-column": "rest", "schema.inference.strategy": "static"}
    topic.write({"id": 1})
    before = topic.table(**rescues)
    topic.write({"key": b'{"k": 1}', "value": b'{"id": 2, "new": {"a": 1}, "other": 1.5}'})
    for table in (before, topic.table(**rescues)):
        with topic.run(table) as query:
            assert query.await_termination(120)
        assert query.restarts == 0
        assert list(query.schema.names) == ["id", "rest", "partition", "offset", "timestamp"]
    assert topic.rows("id", "rest") == [(1, None), (2, '{"new":{"a": 1},"other":1.5}')]

    topic.checkpoint = str(tmp_path / "another")
    with topic.run(topic.table(**rescues)) as query:
        assert query.await_termination(120)
    assert topic.rows("id", "new", "other", "rest") == [(1, None, None, None), (2, '{"a":1}', 1.5, None)]

    with pytest.raises(OptionsError, match=r"option 'json.rescued-data-column': new fields become columns"):
        topic.run(topic.table(**{"json.rescued-data-column": "rest"}))


@pytest.mark.nightly
def test_malformed_messages_end_it_or_are_skipped_and_change_nothing(evolving):
    topic = evolving()
    topic.write({"id": 1})
    before = topic.table()
    topic.write(b"{", b"[1]", b'{"id": 2, "new": 1}', {"key": b"\xff", "value": b'{"id": 3}'})

    query = topic.run(before)
    with pytest.raises(StreamingQueryException, match=r"malformed message in topic .* offset 1: not JSON"):
        query.await_termination(120)
    assert isinstance(query.exception(), StreamingQueryException)
    assert query.restarts == 1
    assert "SchemaChangedError" not in str(query.exception())

    with topic.run(options={**EARLIEST, "ingestion.ignore-errors": "true"}, table=before) as query:
        assert query.await_termination(120)
    assert query.restarts == 0
    assert list(query.schema.names) == ["id", "partition", "offset", "timestamp", "new", "key_col"]
    assert topic.rows("id", "new", "key_col") == [(1, None, None), (2, 1, None), (3, None, b"\xff")]


@pytest.mark.nightly
def test_what_is_refused_ends_it(evolving, spark, make_topic, tmp_path):
    topic = evolving()
    topic.write({"id": 1, "name": "a"})
    before = topic.table(**{"infer-schema.max-columns": "5"})
    topic.write({"id": 2, "more": 1})
    query = topic.run(before)
    with pytest.raises(
        SchemaError, match=r"at partition 0, offset 1 would have 6 columns, .*'infer-schema.max-col"
    ) as e:
        query.await_termination(120)
    assert "millrace.errors.SchemaChangedError: the message in topic" in str(e.value.__cause__)
    assert "partition 0, offset 1 does not fit the columns: more BIGINT is new" in str(e.value.__cause__)
    assert query.exception() is e.value
    assert query.restarts == 0

    wider = topic.table()
    topic.write({"partition": None}, {"partition": 7})
    query = topic.run(wider)
    with pytest.raises(SchemaError, match=r"partition 0, offset 3: the new column partition would have the name"):
        query.await_termination(120)
    assert query.restarts == 1

    def elsewhere(rows: Any, schema: Any) -> Any:
        return rows.writeStream.format("noop").option("checkpointLocation", f"{tmp_path}/other").start()

    with pytest.raises(OptionsError, match=r"must give its query the option checkpointLocation = .*/empty'"):
        restart_on_schema_change(before, elsewhere, spark=spark, checkpoint_location=f"{tmp_path}/empty")
    with pytest.raises(OptionsError, match="option 'Format': the table sets it"):
        topic.run(wider, options={"Format": "csv"})
    with pytest.raises(OptionsError, match=r"option 'json.fail-on-missing-field': expected true or false; got 'maybe'"):
        topic.run(wider, options={"json.fail-on-missing-field": "maybe"})

    first, topic.topic = topic.topic, make_topic()
    topic.write({"id": 1})
    with pytest.raises(SchemaError, match=f"is of table '{first}', not of '{topic.topic}'"):
        topic.run()

    def claims_a_change(rows: Any, schema: Any) -> Any:
        def fail(batch: Any, number: int) -> None:
            raise SchemaChangedError("made up")

        return rows.writeStream.foreachBatch(fail).option("checkpointLocation", f"{tmp_path}/claims").start()

    query = restart_on_schema_change(
        topic.table(), claims_a_change, spark=spark, checkpoint_location=f"{tmp_path}/claims"
    )
    with pytest.raises(
        SchemaError, match=r"failed because of its columns, but all messages of its micro-batch fit .*: made up"
    ):
        query.await_termination(120)


@pytest.mark.nightly
def test_asynchronous_progress_tracking_is_refused(evolving, spark):
    topic = evolving()
    topic.write({"id": 1})

    def start(rows: Any, schema: Any) -> Any:
        tracked = {"asyncProgressTrackingEnabled": "true", "_asyncProgressTrackingOverrideSinkSupportCheck": "true"}
        writer = rows.writeStream.format("noop").options(**tracked)
        return writer.option("checkpointLocation", topic.checkpoint).start()

    with pytest.raises(OptionsError, match="restart_on_schema_change excludes 'asyncProgressTrackingEnabled'"):
        restart_on_schema_change(topic.table(), start, spark=spark, checkpoint_location=topic.checkpoint)
    assert spark.streams.active == []


@pytest.mark.nightly
def test_columns_follow_the_messages_where_spark_demands_names_of_sources(spark, connection, make_topic, tmp_path):
    session = spark.newSession()
    session.conf.set(SOURCE_EVOLUTION, "true")
    topic = Evolving(session, connection, make_topic(), tmp_path)
    topic.write({"id": 1})
    before = topic.table()
    topic.write({"id": 2, "note": "x"})
    with topic.run(before) as query:
        assert query.await_termination(PATIENCE_S)
    assert query.restarts == 1
    assert topic.rows("id", "note") == [(1, None), (2, "x")]
    # What the restart has read in Spark's second version of the log, and the plan reads; Spark 4.2 stays with the first
    version = "v1\n" if spark.version.startswith("4.2") else "v2\n"
    assert (tmp_path / "checkpoint/offsets/0").read_text().startswith(version)
    plan = millrace.plan({**connection, "topic": topic.topic, "format": "raw"}, checkpoint=topic.checkpoint)
    assert "by the checkpoint, with micro-batch 1" in str(plan)

    builder = KafkaSource.builder().set_bootstrap_servers(connection["properties.bootstrap.servers"])
    ids = builder.set_topics(make_topic(), topic.topic).build().load(session).selectExpr("offset AS id")
    both = before.read_stream(session, EARLIEST).select("id").union(ids)
    query = both.writeStream.format("noop").trigger(availableNow=True).start()
    assert query.awaitTermination(PATIENCE_S)
