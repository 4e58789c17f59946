"""Pipelines of what a real Debezium writes of a real PostgreSQL."""

from __future__ import annotations

import pytest
from pyspark.errors import StreamingQueryException

from millrace.contracts import SCHEMA_CHANGES
from millrace.options.parser import OptionParser
from millrace_cdc.connectors.kafka.source import KafkaPipelineSource
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.runtime.execution import PipelineJob, start_pipeline
from support.admin import delete_topics, topic_names
from support.copied_tables import CopiedTables, check_equal
from support.debezium import Debezium
from support.origin import TABLES, Origin
from support.postgres import Postgres
from support.waiting import wait_until

pytestmark = pytest.mark.nightly

NAME = "shop"


@pytest.fixture(scope="module")
def origin(broker):
    with Postgres(wal_level="logical") as postgres:
        origin = Origin(postgres, seed=15)
        origin.create()
        extra = {"provide.transaction.metadata": "true", "topic.heartbeat.prefix": NAME}
        with Debezium(postgres, broker.bootstrap_servers, NAME, has_schemas=True, **extra) as debezium:
            debezium.wait_until_running()
            yield origin
    servers = broker.bootstrap_servers
    delete_topics(servers, [topic for topic in topic_names(servers) if topic.startswith(f"{NAME}.")])


def source_of(connection):
    given = {
        "topic-pattern": f"{NAME}\\..*",
        "scan.startup.mode": "earliest-offset",
        "debezium-json.schema-include": "true",
    }
    parser = OptionParser("source", {**connection, **given})
    options = parser.take(KafkaPipelineSource.Options)
    parser.finish()
    return KafkaPipelineSource(options)


def run_once(spark, job, checkpoint):
    running = start_pipeline(job, spark, str(checkpoint), once=True)
    running.await_termination()
    return running.progress


def test_tables_equal_the_database_after_rows_columns_and_keys_have_changed(spark, connection, origin, tmp_path):
    keys = [
        TransformRule(source_table=f"postgres.public.{name}", primary_keys=table.key)
        for name, table in TABLES.items()
        if table.key
    ]
    sink = CopiedTables(failing=(1,))
    job = PipelineJob(
        source_of(connection), sink, frozenset(SCHEMA_CHANGES), transforms=keys, behavior="evolve", name="debezium"
    )

    def copy() -> None:
        position = origin.position()
        wait_until(lambda: origin.is_sent(NAME, position), "Debezium to send all changes")
        run_once(spark, job, tmp_path)

    copy()
    for name in TABLES:
        check_equal(sink.rows(f"postgres.public.{name}"), origin, name)
    for name in ("orders", "pairs", "days", "places", "documents"):
        origin.change_rows(60)
        for _ in range(4):
            origin.change_columns(name)
            origin.change_rows(10)
    origin.truncate("lists")
    origin.truncate("visits")
    origin.change_rows(100)
    with pytest.raises(StreamingQueryException, match="after it has written"):
        copy()
    copy()
    for name in TABLES:
        check_equal(sink.rows(f"postgres.public.{name}"), origin, name)
    assert sorted(sink.truncated) == ["postgres.public.lists", "postgres.public.visits"]
    types = sink.types["postgres.public.days"]
    assert {name: types[name] for name in ("day", "opens", "closes", "seen")} == {
        "day": "date",
        "opens": "string",
        "closes": "string",
        "seen": "timestamp",
    }
