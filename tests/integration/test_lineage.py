"""A query, an SQL statement and a pipeline tell an HTTP endpoint which topics they read and write, by OpenLineage."""

from __future__ import annotations

import json

import pytest

import millrace
from millrace.contracts import SCHEMA_CHANGES
from millrace.options.parser import OptionParser
from millrace_cdc.connectors.kafka.sink import KafkaPipelineSink
from millrace_cdc.connectors.kafka.source import KafkaPipelineSource
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.runtime.execution import PipelineJob, start_pipeline
from millrace_sql import TableEnvironment
from support.kafka import produce
from support.lineage_endpoint import LineageEndpoint
from support.lineage_schemas import check_by_schema
from support.waiting import wait_until


@pytest.fixture
def endpoint(spark):
    with (
        LineageEndpoint() as endpoint,
        millrace.report_metrics(spark, "openlineage", {"url": endpoint.url, "namespace": "tests"}),
    ):
        yield endpoint
    assert endpoint.events
    check_by_schema(endpoint.events)


def last_event(endpoint, name):
    """The event with which the job of a name has ended."""

    def ended():
        return [event for event in endpoint.events if event["job"]["name"] == name and event["eventType"] == "COMPLETE"]

    wait_until(ended, "the job's last event")
    return ended()[-1]


def names(datasets):
    return [(dataset["namespace"], dataset["name"]) for dataset in datasets]


def fields(dataset):
    return [(field["name"], field["type"]) for field in dataset["facets"]["schema"]["fields"]]


def test_a_query_names_its_topics_with_their_columns(spark, endpoint, connection, broker, make_topic, tmp_path):
    source, target = make_topic(1), make_topic(1)
    produce(broker.bootstrap_servers, source, [{"value": b"1"}])
    rows = spark.readStream.format("millrace").options(**connection, topic=source).schema("value BINARY")
    rows = rows.option("scan.startup.mode", "earliest-offset").load()
    options = {**connection, "topic": target, "checkpointLocation": str(tmp_path)}
    query = rows.writeStream.queryName(target).format("millrace").options(**options).start()
    query.processAllAvailable()
    wait_until(lambda: any(event["outputs"] for event in endpoint.events), "an event with the topic written")
    query.stop()
    event = last_event(endpoint, target)
    kafka = f"kafka://{broker.bootstrap_servers}"
    assert names(event["inputs"]) == [(kafka, source)]
    assert names(event["outputs"]) == [(kafka, target)]
    assert fields(event["inputs"][0]) == fields(event["outputs"][0]) == [("value", "binary")]
    assert event["job"]["facets"]["jobType"]["processingType"] == "STREAMING"


def test_a_statement_has_its_text_and_the_lineage_of_its_columns(spark, endpoint, broker, make_topic):
    source, target = make_topic(1), make_topic(1)
    produce(broker.bootstrap_servers, source, [{"value": json.dumps({"id": 1, "amount": 2}).encode()}])
    env = TableEnvironment(spark)
    for name, topic, bounded in (("orders", source, ", 'scan.bounded.mode' = 'latest-offset'"), ("big", target, "")):
        env.execute_sql(
            f"CREATE TEMPORARY TABLE {name} (id INT, amount INT) WITH ('connector' = 'kafka', 'topic' = '{topic}', "
            f"'properties.bootstrap.servers' = '{broker.bootstrap_servers}', 'format' = 'json', "
            f"'scan.startup.mode' = 'earliest-offset'{bounded})"
        )
    env.execute_sql(f"SET 'pipeline.name' = '{target}'")
    env.execute_sql("INSERT INTO big SELECT id, amount * 2 FROM orders WHERE amount > 1").wait()
    event = last_event(endpoint, target)
    assert event["job"]["facets"]["sql"]["query"].endswith("SELECT id, amount * 2 FROM orders WHERE amount > 1")
    (written,) = event["outputs"]
    lineage = written["facets"]["columnLineage"]["fields"]
    assert {name: [one["field"] for one in column["inputFields"]] for name, column in lineage.items()} == {
        "id": ["id"],
        "amount": ["amount"],
    }
    assert names(column["inputFields"][0] for column in lineage.values()) == names(event["inputs"]) * 2


@pytest.mark.nightly
def test_a_pipeline_names_the_topics_of_its_tables(spark, endpoint, connection, broker, make_topic, tmp_path):
    source, target = make_topic(1), make_topic(1)
    after = {"before": None, "after": {"id": 1}, "op": "c", "source": {"db": "shop", "table": "orders"}}
    produce(broker.bootstrap_servers, source, [{"value": json.dumps(after).encode()}])
    job = PipelineJob(
        _plugin(KafkaPipelineSource, connection, **{"topic": source, "scan.startup.mode": "earliest-offset"}),
        _plugin(KafkaPipelineSink, connection, topic=target),
        frozenset(SCHEMA_CHANGES),
        transforms=[TransformRule(source_table=r"\.*.\.*", primary_keys=("id",))],
        name=target,
    )
    start_pipeline(job, spark, str(tmp_path), once=True).await_termination()
    event = last_event(endpoint, target)
    assert event["job"]["facets"]["jobType"]["jobType"] == "PIPELINE"
    assert [name for _, name in names(event["inputs"])] == [source]
    assert [name for _, name in names(event["outputs"])] == [target]


def _plugin(plugin, connection, **given):
    parser = OptionParser("pipeline", {**connection, **given})
    options = parser.take(plugin.Options)
    parser.finish()
    return plugin(options)
