"""Pipelines of change data on the real broker: messages of all tables in, messages or rows of their tables out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException

from millrace.contracts import SCHEMA_CHANGES, PipelineSink, SinkCapabilities
from millrace.errors import OptionsError
from millrace.kafka.write_admin import WriteAdmin
from millrace.options.parser import OptionParser
from millrace.options.secrets import Properties
from millrace.plugins import DEAD_LETTER_COLLECTOR, plugin_manager
from millrace_cdc import Pipeline
from millrace_cdc.connectors.kafka.sink import KafkaPipelineSink
from millrace_cdc.connectors.kafka.source import KafkaPipelineSource
from millrace_cdc.definitions.rules import RouteRule, TransformRule
from millrace_cdc.run_command import describe_progress
from millrace_cdc.runtime.execution import PipelineJob, start_pipeline
from millrace_cdc.runtime.paused_tables import NO_REQUEST, PauseRequest
from millrace_dead_letters.topic import TopicOptions
from support.admin import delete_topics, group_names, topic_names
from support.cases import CASES
from support.kafka import consume, produce
from support.waiting import wait_until

ALL = frozenset(SCHEMA_CHANGES)
BY_ID = TransformRule(source_table=r"\.*.\.*", primary_keys=("id",))


def make(plugin, connection, **given):
    parser = OptionParser("pipeline", {**connection, **given})
    options = parser.take(plugin.Options)
    parser.finish()
    return plugin(options)


def source_of(connection, *topics, **given):
    given = {"topic": ";".join(topics), "scan.startup.mode": "earliest-offset", **given}
    return make(KafkaPipelineSource, connection, **given)


def run_once(spark, job, checkpoint):
    running = start_pipeline(job, spark, str(checkpoint), once=True)
    running.await_termination()
    return running.progress


def change(operation, table, before=None, after=None) -> dict:
    content = {"before": before, "after": after, "op": operation, "source": {"db": "shop", "table": table}}
    return {"value": json.dumps(content).encode()}


def values(broker, topic) -> list[str]:
    return [message.value().decode() for message in consume(broker.bootstrap_servers, topic)]


class RecordingSink(PipelineSink):
    """Keep schema changes and typed rows; fail once after a micro-batch was written, where asked to."""

    def __init__(self, fail_at=None, changes=ALL):
        super().__init__(None)
        self.applied: list[tuple] = []
        self.rows: list[tuple] = []
        self.batches: list[int] = []
        self.pipelines: set[str] = set()
        self._fail_at = fail_at
        self._changes = changes

    @property
    def capabilities(self):
        return SinkCapabilities(self._changes)

    def apply(self, spark, changes):
        self.applied += [(each.type, each.table.id, each.table.schema.simpleString(), each.columns) for each in changes]

    def write(self, batch):
        self.batches.append(batch.id)
        self.pipelines.add(batch.pipeline)
        for table in batch.tables:
            for row in batch.rows(table).orderBy("partition", "offset").collect():
                before, after = (None if each is None else tuple(each) for each in (row.before, row.after))
                self.rows.append((batch.id, table, row.operation, before, after))
        if self._fail_at == batch.id:
            self._fail_at = None
            raise RuntimeError("the sink fails after it has written")


@pytest.mark.cases
@pytest.mark.parametrize(
    ("name", "file", "options"),
    [
        pytest.param("debezium-json", "mysql-schema-exclude.txt", {}, marks=pytest.mark.nightly),
        ("debezium-json", "mysql-schema-include.txt", {"debezium-json.schema-include": "true"}),
        pytest.param("canal-json", "data.txt", {}, marks=pytest.mark.nightly),
        ("canal-json", "data.txt", {"canal-json.infer-schema.strategy": "MYSQL_TYPE"}),
        ("maxwell-json", "data.txt", {}),
    ],
)
def test_rows_of_a_change_log_that_passed_a_pipeline_are_those_of_the_change_log(
    spark, connection, broker, make_topic, tmp_path, name, file, options
):
    lines = (CASES / name / file).read_text().splitlines()
    origin, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, origin, [{"value": line.encode()} for line in (*lines, "")])
    source = source_of(connection, origin, **{"value.format": name, **options})
    # Only what the reference writes is written
    written_as = name if name != "maxwell-json" else "debezium-json"
    sink = make(KafkaPipelineSink, connection, topic=target, **{"value.format": written_as})

    progress = run_once(spark, PipelineJob(source, sink, ALL), tmp_path)

    def rows(topic, format_, given):
        reader = spark.read.format("millrace").options(**connection, topic=topic, format=format_, **given)
        columns = "row_kind STRING, id INT, name STRING, description STRING, weight FLOAT"
        return [tuple(row) for row in reader.schema(columns).load().collect()]

    read = {key: value for key, value in options.items() if "schema-include" in key}
    assert rows(target, written_as, {}) == rows(origin, name, read)
    written = values(broker, target)
    assert len(written) == sum(table.rows for table in progress.tables.values())
    # Both rows of an update are in one message
    assert sum('"u"' in line or "UPDATE" in line for line in written) == sum(
        kind == "-U" for kind, *_ in rows(origin, name, read)
    )


def test_tables_go_to_topics_of_their_names_and_new_columns_come_with_their_rows(
    spark, connection, broker, make_topic, tmp_path
):
    origin, suffix = make_topic(), make_topic()
    orders, users = (make_topic(name=f"{name}.{suffix}") for name in ("shop", "ods"))
    produce(
        broker.bootstrap_servers,
        origin,
        [
            change("c", suffix, after={"id": 1, "price": 5}),
            change("c", "users", after={"id": 7, "name": "x"}),
            change("u", suffix, {"id": 1, "price": 5}, {"id": 1, "price": 6}),
            change("d", "users", {"id": 7, "name": "x"}),
        ],
    )
    sink = make(KafkaPipelineSink, connection)
    routes = [RouteRule(source_table="shop.users", sink_table=f"ods.{suffix}")]
    job = PipelineJob(source_of(connection, origin), sink, ALL, routes=routes, transforms=[BY_ID])
    run_once(spark, job, tmp_path)
    produce(broker.bootstrap_servers, origin, [change("c", suffix, after={"price": 1.25, "id": 2, "new": [True]})])
    run_once(spark, job, tmp_path)

    source = f'"source":{{"db":"shop","table":"{suffix}"}}}}'
    assert values(broker, orders) == [
        '{"before":null,"after":{"id":1,"price":5},"op":"c",' + source,
        '{"before":{"id":1,"price":5},"after":{"id":1,"price":6},"op":"u",' + source,
        '{"before":null,"after":{"id":2,"price":1.25,"new":[true]},"op":"c",' + source,
    ]
    assert [json.loads(value)["op"] for value in values(broker, users)] == ["c", "d"]
    assert {message.key() for message in consume(broker.bootstrap_servers, users)} == {b'{"id":7}'}


def test_topics_are_created_as_planned(spark, connection, broker, make_topic, tmp_path):
    origin = make_topic()
    table = f"new.{origin}"
    produce(broker.bootstrap_servers, origin, [change("c", "orders", after={"id": 1})])
    servers = f"properties.bootstrap.servers: {connection['properties.bootstrap.servers']}"
    text = f"""
source: {{type: kafka, {servers}, topic: {origin}, scan.startup.mode: earliest-offset}}
sink:
  type: kafka
  {servers}
  sink.topic.create.partitions: 3
  sink.topic.create.config.cleanup.policy: compact
route: [{{source-table: shop.orders, sink-table: {table}}}]
transform: [{{source-table: shop.orders, primary-keys: id}}]
"""
    pipeline, checkpoint = Pipeline.from_yaml(text), str(tmp_path / "checkpoint")
    try:
        for exists in (False, True):
            plan = pipeline.plan(spark if exists else no_session, checkpoint_location=checkpoint)
            assert [(each.destination.name, each.destination.exists) for each in plan.targets] == [(table, exists)]
            assert (table in topic_names(broker.bootstrap_servers)) is exists
            pipeline.run(spark, checkpoint_location=checkpoint, once=True).await_termination()
        assert len(values(broker, table)) == 1
        topic = WriteAdmin(Properties({"bootstrap.servers": broker.bootstrap_servers}))
        assert topic.topics([table])[table].partitions == 3
        assert topic.topic_config(table)["cleanup.policy"] == "compact"
    finally:
        delete_topics(broker.bootstrap_servers, [table])


@pytest.mark.nightly
def test_a_repeated_micro_batch_has_the_same_schema_changes_and_rows(spark, connection, broker, make_topic, tmp_path):
    origin = make_topic()
    produce(broker.bootstrap_servers, origin, [change("c", "t", after={"id": 1, "at": "2024-05-06 07:08:09"})])
    source = source_of(connection, origin, **{"scan.max.pre.fetch.records": "0"})
    first = RecordingSink(fail_at=0)
    with pytest.raises(StreamingQueryException, match="the sink fails after it has written"):
        run_once(spark, PipelineJob(source, first, ALL), tmp_path)
    again = RecordingSink(fail_at=1)
    produce(broker.bootstrap_servers, origin, [change("c", "t", after={"id": "b", "n": 1.5})])
    with pytest.raises(StreamingQueryException, match="the sink fails after it has written"):
        run_once(spark, PipelineJob(source, again, ALL), tmp_path)
    last = RecordingSink()
    run_once(spark, PipelineJob(source, last, ALL), tmp_path)

    assert first.applied == [("create.table", "shop.t", "struct<id:bigint,at:timestamp_ntz>", ())]
    assert again.applied == [
        *first.applied,
        ("add.column", "shop.t", "struct<id:bigint,at:timestamp_ntz,n:double>", ("n",)),
        ("alter.column.type", "shop.t", "struct<id:string,at:timestamp_ntz,n:double>", ("id",)),
    ]
    assert last.applied == again.applied[1:]
    assert again.rows[:1] == first.rows
    assert last.rows == again.rows[1:] == [(1, "shop.t", "c", None, ("b", None, 1.5))]
    query = json.loads((tmp_path / "metadata").read_text())["id"]
    assert first.pipelines == again.pipelines == last.pipelines == {query}


def test_exactly_once_leaves_no_message_twice_after_a_failure_behind_the_write(
    spark, connection, broker, make_topic, tmp_path
):
    origin, target = make_topic(partitions=2), make_topic(partitions=3)
    messages = [change("c", f"t{number % 3}", after={"id": number}) | {"partition": number % 2} for number in range(20)]
    produce(broker.bootstrap_servers, origin, messages)
    exactly_once = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": origin}

    class FailingSink(KafkaPipelineSink):
        def write(self, batch):
            super().write(batch)
            raise RuntimeError("the sink fails after it has written")

    source = source_of(connection, origin)
    failing = make(FailingSink, connection, topic=target, **exactly_once)
    with pytest.raises(StreamingQueryException, match="after it has written"):
        run_once(spark, PipelineJob(source, failing, ALL), tmp_path)
    whole = make(KafkaPipelineSink, connection, topic=target, **exactly_once)
    run_once(spark, PipelineJob(source, whole, ALL), tmp_path)

    written = [json.loads(value)["after"]["id"] for value in values(broker, target)]
    assert sorted(written) == list(range(20))
    # As partition.strategy: all-to-zero says
    assert {message.partition() for message in consume(broker.bootstrap_servers, target)} == {0}


@pytest.mark.nightly
def test_first_schemas_come_from_statements_and_from_the_newest_messages(
    spark, connection, broker, make_topic, tmp_path
):
    origin = make_topic()
    produce(broker.bootstrap_servers, origin, [change("c", "seen", after={"id": n, f"c{n}": n}) for n in range(3)])
    options = {
        "scan.max.pre.fetch.records": "2",
        "scan.value.initial-schemas.ddls": "CREATE TABLE shop.given (id INT, name VARCHAR(10))",
    }
    sink = RecordingSink()
    run_once(spark, PipelineJob(source_of(connection, origin, **options), sink, ALL), tmp_path)

    assert sink.applied == [
        ("create.table", "shop.given", "struct<id:int,name:string>", ()),
        ("create.table", "shop.seen", "struct<id:bigint,c1:bigint,c2:bigint>", ()),
        ("add.column", "shop.seen", "struct<id:bigint,c1:bigint,c2:bigint,c0:bigint>", ("c0",)),
    ]


def test_malformed_messages_are_collected_and_tolerated_up_to_a_number(spark, connection, broker, make_topic, tmp_path):
    origin, dead = make_topic(), make_topic()
    broken = {"value": b"{", "key": b"k", "headers": [("h", b"v")]}
    produce(broker.bootstrap_servers, origin, [broken, change("c", "t", after={"id": 1}), {"value": b"["}])
    tolerant = {"ingestion.ignore-errors": "true"}
    collector = plugin_manager().refer(DEAD_LETTER_COLLECTOR, "topic", TopicOptions(topic=dead))
    job = PipelineJob(source_of(connection, origin, **tolerant), RecordingSink(), ALL, collector=collector)
    progress = run_once(spark, job, tmp_path / "a")
    assert (progress.malformed, progress.tables["shop.t"].rows) == (2, 1)
    first, second = consume(broker.bootstrap_servers, dead)
    assert (first.key(), first.value(), second.value()) == (b"k", b"{", b"[")
    headers = dict(first.headers())
    assert (headers["h"], headers["millrace.error.topic"]) == (b"v", origin.encode())
    assert int(headers["millrace.error.timestamp"]) > 0

    itself = plugin_manager().refer(DEAD_LETTER_COLLECTOR, "topic", TopicOptions(topic=origin))
    with pytest.raises(OptionsError, match="is among the topics that the source reads"):
        run_once(spark, replace(job, collector=itself), tmp_path / "b")
    strict = source_of(connection, origin, **tolerant, **{"ingestion.error-tolerance.max-count": "1"})
    with pytest.raises(StreamingQueryException, match="2 messages are malformed, more than"):
        run_once(spark, PipelineJob(strict, RecordingSink(), ALL), tmp_path / "c")


def test_malformed_messages_are_tolerated_up_to_a_run_and_a_share(spark, connection, broker, make_topic, tmp_path):
    origin = make_topic()
    sound = [change("c", "t", after={"id": number}) for number in range(97)]
    produce(broker.bootstrap_servers, origin, [*sound, *[{"value": b"{"}] * 3])
    for name, limit, problem in (
        ("dirty-data.max-consecutive", "2", "malformed messages one after another in a partition: 3, more than"),
        ("dirty-data.max-ratio", "2 %", "3 of 100 messages are malformed, a larger share than"),
    ):
        source = source_of(connection, origin, **{"ingestion.ignore-errors": "true", name: limit})
        with pytest.raises(StreamingQueryException, match=problem):
            run_once(spark, PipelineJob(source, RecordingSink(), ALL), tmp_path / name)


def test_malformed_messages_may_go_to_a_table_of_the_sink(spark, connection, broker, make_topic, tmp_path):
    origin = make_topic()
    produce(broker.bootstrap_servers, origin, [{"value": b"{", "key": b"k"}, change("c", "t", after={"id": 1})])
    text = rf"""
source:
  type: kafka
  properties.bootstrap.servers: {broker.bootstrap_servers}
  topic: {origin}
  scan.startup.mode: earliest-offset
  ingestion.ignore-errors: true
sink: {{type: values, materialized.in.memory: true, print.enabled: false}}
# Neither is for the table of malformed messages, which has no column id
route: [{{source-table: '\.*.\.*', sink-table: all.rows}}]
transform: [{{source-table: '\.*.\.*', projection: id, primary-keys: id}}]
pipeline:
  dirty-data.collector: {{type: table, table: ops.malformed}}
"""
    running = Pipeline.from_yaml(text).run(spark, checkpoint_location=str(tmp_path), once=True)
    running.await_termination()
    assert running.sink.tables["all.rows"] == [{"id": 1}]
    (row,) = running.sink.tables["ops.malformed"]
    assert "JSON" in row.pop("error")
    assert row == {"topic": origin, "partition": 0, "offset": 0, "key": "aw==", "value": "ew=="}
    figures = {each.table: each.num_changes_in for each in running.metrics.tables}
    assert figures == {"ops.malformed": 1, "shop.t": 1}
    assert running.metrics.num_records_in_errors == 1


def test_a_table_that_cannot_change_is_paused_with_all_of_its_messages_kept_and_others_go_on(
    spark, connection, broker, make_topic, tmp_path
):
    origin, dead = make_topic(), make_topic()
    collector = plugin_manager().refer(DEAD_LETTER_COLLECTOR, "topic", TopicOptions(topic=dead))
    source = source_of(connection, origin, **{"scan.max.pre.fetch.records": "0"})
    job = PipelineJob(source, RecordingSink(), ALL, behavior="exception", collector=collector, pauses=True)

    def send(*messages):
        produce(broker.bootstrap_servers, origin, messages)

    def run(sink, request=NO_REQUEST):
        running = start_pipeline(replace(job, sink=sink), spark, str(tmp_path), once=True, request=request)
        running.await_termination()
        return running.progress

    def letters():
        return [json.loads(message.value())["after"] for message in consume(broker.bootstrap_servers, dead)]

    with pytest.raises(OptionsError, match="a table can be paused only where its messages are kept"):
        start_pipeline(replace(job, collector=None), spark, str(tmp_path), once=True)
    send(change("c", "a", after={"id": 1}), change("c", "b", after={"id": 1}))
    run(RecordingSink())
    send(
        change("c", "a", after={"id": 2}), change("c", "a", after={"id": 3, "x": 1}), change("c", "b", after={"id": 2})
    )
    failing = RecordingSink(fail_at=1)
    with pytest.raises(StreamingQueryException, match="after it has written"):
        run(failing)
    # The repeated micro-batch is the same, and its letters come once more
    repeated = RecordingSink()
    progress = run(repeated)
    assert repeated.rows == failing.rows == [(1, "shop.b", "c", None, (2,))]
    assert list(progress.paused) == ["shop.a"]
    assert "must get columns" in progress.paused["shop.a"]
    assert letters() == [{"id": 2}, {"id": 3, "x": 1}] * 2
    assert (progress.collected["shop.a"], "shop.a" in progress.tables) == (2, False)

    send(change("c", "a", after={"id": 4}), change("c", "b", after={"id": 3}))
    later = RecordingSink()
    run(later, PauseRequest(pause=frozenset({"shop.b"})))
    assert later.rows == []
    assert letters()[4:] == [{"id": 4}, {"id": 3}]
    send(change("c", "a", after={"id": 5}), change("c", "b", after={"id": 4}))
    resumed = RecordingSink()
    progress = run(resumed, PauseRequest(resume=frozenset({"shop.a"})))
    assert resumed.rows == [(3, "shop.a", "c", None, (5,))]
    assert progress.paused == {"shop.b": "by hand"}
    assert describe_progress(progress) == (
        "1 table, 1 change, 0 schema changes, 0 malformed messages, paused: shop.b (1 message collected)"
    )


def yaml_of(connection, origin, target, extra="") -> str:
    servers = connection["properties.bootstrap.servers"]
    return f"""
source:
  type: kafka
  properties.bootstrap.servers: {servers}
  topic: ${{origin}}
  scan.startup.mode: earliest-offset
  key.format: json
  key.fields-prefix: key_
  metadata.list: topic, offset, timestamp-type, headers, leader-epoch
sink:
  type: kafka
  properties.bootstrap.servers: {servers}
  topic: {target}
  value.format: canal-json
route:
  - source-table: shop.(\\.*)
    sink-table: ods.$1
transform:
  - source-table: shop.orders
    projection: id, price * 2 AS price, key_id, topic, offset, `timestamp-type` AS t, `headers`, `leader-epoch` AS epoch
    filter: price > 1
    primary-keys: id
  - source-table: shop.users
    projection: id, topic
pipeline:
  name: Orders
  dirty-data.collector: logger
{extra}"""


def test_a_pipeline_of_yaml_projects_filters_and_routes_with_columns_of_keys_and_metadata(
    spark, connection, broker, make_topic, tmp_path
):
    origin, target = make_topic(), make_topic()
    old, new = {"id": 1, "price": 1}, {"id": 1, "price": 2.5}
    keyed = {"key": b'{"id":1}', "headers": [("h", b"v")]}
    messages = [change("u", "orders", old, new) | keyed, change("c", "users", after={"id": 7}) | {"key": b'{"id":7}'}]
    produce(broker.bootstrap_servers, origin, messages)
    pipeline = Pipeline.from_yaml(yaml_of(connection, origin, target), variables={"origin": origin})

    running = pipeline.run(spark, checkpoint_location=str(tmp_path), once=True)
    running.await_termination()

    written = {value["table"]: value for value in map(json.loads, values(broker, target))}
    assert set(written) == {"orders", "users"}
    (row,) = written["orders"].pop("data")
    assert (row.pop("epoch"), written["orders"]) == (
        0,
        {"old": None, "type": "INSERT", "database": "ods", "table": "orders", "pkNames": ["id"]},
    )
    assert row == {
        "id": 1,
        "price": 5.0,
        "key_id": 1,
        "topic": origin,
        "offset": 0,
        "t": "CreateTime",
        "headers": {"h": "dg=="},
    }
    assert written["users"]["data"] == [{"id": 7, "topic": origin}]
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"


def test_the_command_runs_a_file_once_and_says_what_it_has_done(connection, broker, make_topic, tmp_path):
    origin, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, origin, [change("c", "users", after={"id": n}) for n in range(3)])
    file = tmp_path / "pipeline.yaml"
    file.write_text(yaml_of(connection, origin, target))
    command = [sys.executable, "-m", "millrace_cli", "run", str(file), "--once", "--set", f"origin={origin}"]
    command += ["--ui", "--ui-port", "0"]

    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TMPDIR": folder}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=environment, **pipes) as running:
            url = re.fullmatch(r"the live page is at (http://127\.0\.0\.1:\d+/)\n", running.stdout.readline())[1]
            assert json.load(urllib.request.urlopen(f"{url}api/page", timeout=60))["hasSession"]
            output, errors = running.communicate(timeout=300)
        wait_until(lambda: not list(Path(folder).glob("millrace-spark-*")), "Java has deleted the links to Spark")

    assert (running.returncode, output.splitlines()[-1:]) == (
        0,
        ["1 table, 3 changes, 1 schema change, 0 malformed messages"],
    ), errors
    assert len(values(broker, target)) == 3
    assert (tmp_path / "pipeline.yaml.checkpoint" / "millrace-pipeline").is_dir()


@pytest.mark.nightly
def test_a_plan_takes_the_settings_that_its_problem_asks_for(connection, make_topic, broker, tmp_path):
    origin = make_topic()
    produce(broker.bootstrap_servers, origin, [change("c", "users", after={"id": 1})])
    file = tmp_path / "pipeline.yaml"
    servers = f"properties.bootstrap.servers: {connection['properties.bootstrap.servers']}"
    source = f"{{type: kafka, {servers}, topic: {origin}, scan.startup.mode: earliest-offset}}"
    file.write_text(f"source: {source}\nsink: {{type: iceberg, catalog: shop}}\n")

    def plan(*arguments):
        command = [sys.executable, "-m", "millrace_cli", "plan", str(file), *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert ended.returncode
        return ended.stdout + ended.stderr

    without = plan()
    assert "spark.sql.catalog.shop.type=hadoop" in without
    assert "give them by --conf" in without

    settings = {"spark.sql.catalog.shop.type": "hadoop", "spark.sql.catalog.shop.warehouse": str(tmp_path)}
    with_catalog = plan(*(part for name, value in settings.items() for part in ("--conf", f"{name}={value}")))
    assert "give them by --conf" not in with_catalog
    assert "needs Iceberg's library" in with_catalog


def no_session():
    raise AssertionError("a plan without expressions needs no Spark")


def topics_and_groups(broker):
    return topic_names(broker.bootstrap_servers), group_names(broker.bootstrap_servers)


def test_a_plan_finds_tables_topics_and_problems_and_changes_nothing(connection, broker, make_topic, tmp_path):
    origin, target = make_topic(partitions=2), make_topic()
    wide = change("c", "orders", after={"id": 2, "price": 0.5}) | {"partition": 1}
    messages = [change("c", "orders", after={"id": 1, "price": 1}) | {"partition": 0}, wide]
    produce(broker.bootstrap_servers, origin, [*messages, {"value": b"{", "partition": 0}])
    servers = f"properties.bootstrap.servers: {connection['properties.bootstrap.servers']}"
    text = f"""
source: {{type: kafka, {servers}, topic: {origin}, scan.max.pre.fetch.records: 0}}
sink: {{type: kafka, {servers}, partition.strategy: hash-by-key}}
route: [{{source-table: shop.orders, sink-table: {target}}}, {{source-table: shop.orders, sink-table: not.there}}]
"""
    before = topics_and_groups(broker)
    plan = Pipeline.from_yaml(text).plan(no_session, checkpoint_location=str(tmp_path / "none"))

    (table,) = plan.tables
    assert {column.name: column.evidence.partition for column in table.columns} == {"id": 0, "price": 1}
    assert {each.id: (each.destination.kind, each.destination.exists) for each in plan.targets} == {
        target: ("topic", True),
        "not.there": ("topic", False),
    }
    assert [note for note in plan.notes if "several partitions" in note]
    sentences = [each.sentence for each in plan.problems]
    assert any("malformed message in topic" in each for each in sentences)
    assert any("hash-by-key' needs a primary key" in each for each in sentences)
    assert any("group-offsets', the default, needs" in each for each in sentences)
    assert topics_and_groups(broker) == before
