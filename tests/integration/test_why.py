"""Queries that stand still for a known reason, and the causes that are found."""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import TopicPartition

import millrace
from millrace_broker.installation import DEFAULT_VERSION
from millrace_broker.java import find_java
from millrace_cli.commands.why import why as why_command
from support.admin import delete_topics
from support.kafka import commit_offsets, has_hidden_records, produce
from support.maven import Artifact, fetch_jars
from support.names import unique_name
from support.open_transactions import left_open
from support.waiting import wait_until

MESSAGES = 10
EARLIEST = {"scan.startup.mode": "earliest-offset"}


@pytest.fixture(scope="module")
def filled(broker):
    """A topic with messages of one partition, for the cases that only read it."""
    topic = unique_name("why")
    broker.create_topic(topic, 1)
    records = [{"value": str(number).encode(), "headers": [("kind", b"a")]} for number in range(MESSAGES)]
    produce(broker.bootstrap_servers, topic, records)
    yield topic
    delete_topics(broker.bootstrap_servers, [topic])


@pytest.fixture(autouse=True, scope="module")
def prompt_progress(spark):
    """Let idle queries report each of their looks."""
    name = "spark.sql.streaming.noDataProgressEventInterval"
    spark.conf.set(name, "100")
    yield
    spark.conf.unset(name)


@contextmanager
def running(spark, options, tmp_path, condition="true", **trigger):
    rows = spark.readStream.format("millrace").options(**options).load().where(condition)
    query = (
        rows.writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(**(trigger or {"processingTime": "200 milliseconds"}))
        .start()
    )
    try:
        yield query
    finally:
        query.stop()


def wait_for(query, kind, options=None) -> Any:
    """Return the cause when it is the first one."""
    found: list[Any] = []

    def is_found() -> bool:
        # What topics show is there from the beginning
        found[:] = [millrace.why(query, options=options)] if query.lastProgress else []
        return bool(found) and found[0].cause.kind == kind

    wait_until(is_found, f"the cause {kind}")
    return found[0].cause


@pytest.mark.nightly
def test_everything_is_read(spark, connection, filled, tmp_path):
    options = {**connection, "topic": filled, **EARLIEST}
    with running(spark, options, tmp_path) as query:
        query.processAllAvailable()
        cause = wait_for(query, "no-new-offsets", options)
        assert cause.evidence["position"] == {f"{filled}-0": MESSAGES}
        assert millrace.why(query).cause.kind == "no-new-offsets"
    assert millrace.why(query).cause.kind == "stopped"

    # From outside, by the checkpoint alone
    arguments = ["--topic", filled, "--checkpoint", str(tmp_path / "checkpoint"), "--json"]
    servers = connection["properties.bootstrap.servers"]
    done = CliRunner().invoke(why_command, ["--bootstrap-servers", servers, *arguments])
    assert done.exit_code == 0, done.output
    (told,) = json.loads(done.output)["causes"]
    assert (told["kind"], told["evidence"]["position"]) == ("no-new-offsets", {f"{filled}-0": MESSAGES})
    assert "was written since" in told["message"]


def test_a_header_filter_drops_all(spark, connection, filled, tmp_path):
    options = {**connection, "topic": filled, **EARLIEST, "scan.header-filter": "kind:b"}
    with running(spark, options, tmp_path) as query:
        cause = wait_for(query, "filter", options)
    assert "scan.header-filter" in cause.message
    assert cause.evidence == {"messages read": MESSAGES, "rows read": 0}


def test_a_condition_of_the_query_drops_all(spark, connection, filled, tmp_path):
    options = {**connection, "topic": filled, **EARLIEST}
    with running(spark, options, tmp_path, "CAST(value AS STRING) = 'none'") as query:
        cause = wait_for(query, "filter")
    assert "query's own" in cause.message
    assert (cause.evidence["rows read"], cause.evidence["rows written"]) == (MESSAGES, 0)


def test_a_transaction_is_open(spark, broker, connection, make_topic, tmp_path):
    topic = make_topic(1)
    options = {**connection, "topic": topic, **EARLIEST}
    with left_open(broker.bootstrap_servers, f"{topic}-0", topic, 0):
        wait_until(lambda: has_hidden_records(broker.bootstrap_servers, topic), "a record behind the transaction")
        with running(spark, options, tmp_path) as query:
            cause = wait_for(query, "open-transactions", options)
            assert cause.evidence == {"offsets behind open transactions": {f"{topic}-0": 1}}
            assert f"describe-producers --topic {topic} --partition 0" in cause.remedy
            # The query alone knows as much
            assert wait_for(query, "open-transactions").evidence == cause.evidence


@pytest.mark.nightly
def test_the_advice_finds_the_open_transaction_and_ends_it(spark, broker, connection, make_topic, tmp_path):
    topic = make_topic(1)
    options = {**connection, "topic": topic, **EARLIEST}
    with left_open(broker.bootstrap_servers, f"{topic}-0", topic, 0), running(spark, options, tmp_path) as query:
        remedy = wait_for(query, "open-transactions", options).remedy
        (advice,) = re.findall(r"kafka-transactions\.sh --bootstrap-server HOST:PORT (.*)", remedy)
        assert "CurrentTransactionStartOffset" in kafka_transactions(broker, *advice.split())
        kafka_transactions(broker, "abort", "--topic", topic, "--partition", "0", "--start-offset", "0")
        wait_for(query, "no-new-offsets", options)


def kafka_transactions(broker, *arguments):
    """Run Kafka's own tool, which the brokers' jars are without."""
    jars = fetch_jars(f"kafka-tools-{DEFAULT_VERSION}", [Artifact("org.apache.kafka", "kafka-tools", DEFAULT_VERSION)])
    tool = ["-cp", os.pathsep.join(map(str, jars)), "org.apache.kafka.tools.TransactionsCommand"]
    command = [str(find_java().path), *tool, "--bootstrap-server", broker.bootstrap_servers, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_limit_leaves_the_rest(spark, connection, filled, tmp_path):
    options = {**connection, "topic": filled, **EARLIEST, "scan.max-records-per-batch": "4"}
    with running(spark, options, tmp_path, processingTime="1 hour") as query:
        cause = wait_for(query, "read-limit", options)
    assert cause.evidence == {"unread offsets": {f"{filled}-0": MESSAGES - 4}}


def test_a_quiet_partition_holds_the_others_back(spark, broker, connection, make_topic, tmp_path):
    topic, start_ms = make_topic(2), 1_700_000_000_000
    records = [(0, 0), (0, 5), (0, 12), (0, 100), (1, 3)]
    stamped = [{"value": b"v", "partition": each, "timestamp": start_ms + 1_000 * at} for each, at in records]
    produce(broker.bootstrap_servers, topic, stamped)
    aligned = {"scan.watermark.alignment.max-drift": "10 s", "scan.watermark.idle-timeout": "1 h"}
    options = {**connection, "topic": topic, **EARLIEST, **aligned}
    with running(spark, options, tmp_path) as query:
        wait_until(lambda: query.lastProgress and ends(query, topic) == {"0": 3, "1": 1}, "all but the last")
        cause = wait_for(query, "alignment", options)
    assert cause.evidence == {"unread offsets": {f"{topic}-0": 1, f"{topic}-1": 0}}
    assert "idle-timeout" in cause.remedy


def ends(query, topic):
    return json.loads(query.lastProgress.sources[0].endOffset)["topics"][topic]


def test_another_application_has_read_for_the_group(broker, connection, filled):
    group = f"{filled}-group"
    commit_offsets(broker.bootstrap_servers, group, [TopicPartition(filled, 0, MESSAGES)])
    options = {**connection, "topic": filled, "properties.group.id": group}
    found = millrace.why(options=options)
    assert [cause.kind for cause in found.causes] == ["group", "no-new-offsets"]
    assert found.cause.evidence["committed offsets"] == {f"{filled}-0": MESSAGES}
    assert f"group: {group}" in str(found)


def test_a_query_has_failed_and_a_topic_is_missing(spark, connection, filled, tmp_path):
    options = {**connection, "topic": filled, **EARLIEST, "format": "json", "columns": "id BIGINT"}
    with running(spark, options, tmp_path) as query:
        wait_until(lambda: query.exception() is not None, "the failure")
        cause = millrace.why(query, options=options).cause
    assert cause.kind == "failed"
    assert f"topic '{filled}', partition 0, offset 0" in cause.message
    assert len(cause.message.splitlines()) <= 2

    missing = millrace.why(options={**connection, "topic": f"{filled}x"}).cause
    assert missing.kind == "topic-missing"
    assert f"Did you mean '{filled}'" in missing.message


def test_more_messages_are_waited_for(spark, broker, connection, make_topic, tmp_path):
    topic = make_topic(1)
    produce(broker.bootstrap_servers, topic, [{"value": b"v"}])
    options = {**connection, "topic": topic, **EARLIEST, "scan.min-records-per-batch": "100"}
    with running(spark, options, tmp_path) as query:
        # The first micro-batch waits for nothing
        query.processAllAvailable()
        produce(broker.bootstrap_servers, topic, [{"value": b"v"}])
        cause = wait_for(query, "min-records", options)
    assert cause.evidence == {"unread offsets": {f"{topic}-0": 1}}
