"""Plans of jobs, each then run: offsets, rows and tasks are as predicted."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import TopicPartition

import millrace
from millrace_cli.commands.plan import plan as plan_command
from millrace_sql import TableEnvironment
from support.admin import delete_topics, group_names, topic_names
from support.checkpoints import forget_newest_commit
from support.kafka import commit_offsets, produce, transactional_producer, wait_for_markers
from support.names import unique_name
from support.retrying import flush, retried
from support.tiers import nightly_but
from support.waiting import wait_until

START_MS = 1_700_000_000_000
PER_PARTITION = 30
GROUP = "plans-group"


@dataclass(frozen=True)
class Topics:
    """The topics of all jobs; their names begin alike."""

    prefix: str

    def __getattr__(self, name: str) -> str:
        return f"{self.prefix}-{name}"


def _numbered(partitions: int, count: int = PER_PARTITION) -> list[dict[str, Any]]:
    return [
        {
            "value": json.dumps({"id": number, "name": f"n{number}"}).encode(),
            "key": json.dumps({"id": number % 10}).encode(),
            "partition": partition,
            "timestamp": START_MS + number * 1_000,
            "headers": [("kind", b"even" if number % 2 == 0 else b"odd")],
        }
        for partition in range(partitions)
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def topics(broker):
    names, servers = Topics(unique_name("plans")), broker.bootstrap_servers
    compaction = {"cleanup.policy": "compact"}
    for name, partitions, config in (
        ("orders", 3, None),
        ("audit", 2, None),
        ("empty", 2, None),
        ("table", 2, compaction),
        ("ledger", 1, None),
    ):
        broker.create_topic(f"{names.prefix}-{name}", partitions, config)
    for name, partitions in (("orders", 3), ("audit", 2), ("table", 2)):
        produce(servers, f"{names.prefix}-{name}", _numbered(partitions))
    producer = transactional_producer(servers, names.ledger)
    for commits in (True, False, True):
        producer.begin_transaction()
        for number in range(10):
            producer.produce(names.ledger, str(number).encode())
        # What is not sent yet would be dropped by an abort
        flush(producer)
        retried(producer.commit_transaction if commits else producer.abort_transaction)
    wait_for_markers(servers, names.ledger)
    commit_offsets(
        servers, f"{names.prefix}-{GROUP}", [TopicPartition(names.orders, each, 10 + each) for each in range(3)]
    )
    yield names
    delete_topics(servers, [f"{names.prefix}-{each}" for each in ("orders", "audit", "empty", "table", "ledger")])


@dataclass(frozen=True)
class Job:
    """The options of a read, with {names of topics} to be filled in, and whether its plan has exact rows."""

    name: str
    options: dict[str, str]
    streaming: bool = False
    is_exact: bool = True
    schema: str | None = None


EARLIEST = {"scan.startup.mode": "earliest-offset"}
TABLE = {
    "connector": "upsert-kafka",
    "topic": "{table}",
    "key.format": "json",
    "key.fields": "id",
    "value.format": "json",
}
JSON = {"format": "json"}
SCHEMA = "row_kind STRING, id BIGINT, name STRING"

BATCHES = [
    Job("from the earliest to the latest offset", {"topic": "{orders}"}),
    Job(
        "specific offsets",
        {
            "topic": "{audit}",
            "scan.startup.mode": "specific-offsets",
            "scan.startup.specific-offsets": "partition:0,offset:7;partition:1,offset:29",
        },
    ),
    Job(
        "timestamps",
        {
            "topic": "{orders}",
            "scan.startup.mode": "timestamp",
            "scan.startup.timestamp-millis": str(START_MS + 5_500),
            "scan.bounded.mode": "timestamp",
            "scan.bounded.timestamp-millis": str(START_MS + 20_000),
        },
    ),
    Job(
        "specific stopping offsets",
        {
            "topic": "{audit}",
            "scan.bounded.mode": "specific-offsets",
            "scan.bounded.specific-offsets": "partition:0,offset:3;partition:1,offset:30",
        },
    ),
    Job("offsets of a group", {"topic": "{orders}", "properties.group.id": "{prefix}-" + GROUP}),
    Job("a pattern of topics", {"topic-pattern": "{prefix}-(orders|audit)"}),
    Job("several topics", {"topic": "{orders};{audit};{empty}"}),
    Job("single partitions", {"topic-partitions": "{orders}:1,2;{audit}:0"}),
    Job("an empty topic", {"topic": "{empty}"}),
    Job("a compacted topic", {"topic": "{table}"}, is_exact=False),
    Job("a topic with transactions, one of them aborted", {"topic": "{ledger}"}),
    Job("its uncommitted messages", {"topic": "{ledger}", "properties.isolation.level": "read_uncommitted"}),
    Job("divided among tasks", {"topic": "{orders};{audit}", "scan.parallelism": "7"}),
    Job("small tasks", {"topic": "{orders}", "scan.split.max-records": "8"}),
    Job("a header filter", {"topic": "{audit}", "scan.header-filter": "kind:even"}),
    Job("inferred columns", {"topic": "{orders}", **JSON}),
    Job("declared columns", {"topic": "{audit}", **JSON, "columns": "id BIGINT, *"}),
    Job("a table with a primary key", TABLE, schema=SCHEMA, is_exact=False),
]

QUICK = [each for each in BATCHES if each.name in {"timestamps", "a header filter", "a table with a primary key"}]

STREAMS = [
    Job("a stream with a limit", {"topic": "{orders}", **EARLIEST, "scan.max-records-per-batch": "40"}, True),
    Job("a stream from the latest offsets", {"topic": "{orders}"}, True),
    Job(
        "a stream with an end",
        {
            "topic": "{orders};{audit}",
            **EARLIEST,
            "scan.bounded.mode": "timestamp",
            "scan.bounded.timestamp-millis": str(START_MS + 9_000),
            "scan.parallelism": "3",
        },
        True,
    ),
    Job("a stream of a group", {"topic": "{orders}", "properties.group.id": "{prefix}-" + GROUP}, True),
    Job("a stream with a limit in bytes", {"topic": "{audit}", **EARLIEST, "scan.max-bytes-per-batch": "500"}, True),
    Job(
        "a stream of aligned partitions",
        {"topic": "{orders}", **EARLIEST, "scan.watermark.alignment.max-drift": "12 s"},
        True,
    ),
]


@pytest.fixture
def fill(topics, connection):
    """Put the names of topics into options."""

    def filled(options: dict[str, str]) -> dict[str, str]:
        names = {name: getattr(topics, name) for name in ("orders", "audit", "empty", "table", "ledger")}
        return {**connection, **{k: v.format(prefix=topics.prefix, **names) for k, v in options.items()}}

    return filled


def ranges_of(read: Any) -> dict[tuple[str, int], tuple[int, int]]:
    return {(each.topic, each.partition): (each.start, each.end) for each in read.ranges if each.end > each.start}


def check_rows(planned: Any, rows: int, *, is_exact: bool = True) -> None:
    assert planned.is_exact is is_exact, planned
    if is_exact:
        assert planned.most == rows
    else:
        assert planned.most >= rows
        assert str(planned).startswith("at most ")


@pytest.mark.parametrize("job", nightly_but(BATCHES, *QUICK), ids=lambda job: job.name)
def test_a_batch_is_as_planned(spark, fill, job):
    options = fill(job.options)
    plan = millrace.plan(options, schema=job.schema)
    assert plan.problems == ()
    (read,) = plan.reads

    # The offsets of all rows, as far as a row has one of its own
    if job.schema is None:
        reader = spark.read.format("millrace").options(**options)
        if "format" in options:
            reader = reader.option("metadata.columns", "topic, partition, offset")
    else:
        reader = spark.read.format("millrace").options(**options).schema(job.schema)
    frame = reader.load()
    assert frame.rdd.getNumPartitions() == read.tasks
    rows = frame.collect()
    check_rows(read.rows, len(rows), is_exact=job.is_exact)
    if job.schema is None:
        check_offsets(read, rows, has_gaps="ledger" in job.options.get("topic", "") or "header" in job.name)
    assert len(read.splits) == read.tasks or not rows


def check_offsets(read: Any, rows: list[Any], *, has_gaps: bool) -> None:
    seen: dict[tuple[str, int], list[int]] = {}
    for row in rows:
        seen.setdefault((row["topic"], row["partition"]), []).append(row["offset"])
    planned = ranges_of(read)
    assert planned.keys() == seen.keys()
    for partition, offsets in seen.items():
        start, end = planned[partition]
        assert start <= min(offsets)
        assert max(offsets) < end
        assert has_gaps or (min(offsets), max(offsets) + 1, len(offsets)) == (start, end, end - start)


class FirstBatch:
    """The next micro-batch of a stream: its rows, tasks and offsets; none where there is nothing to read."""

    def __init__(self, spark: Any, options: dict[str, str], checkpoint: Any, schema: str | None = None) -> None:
        self.rows = self.tasks = 0
        reader = spark.readStream.format("millrace").options(**options)
        rows = (reader if schema is None else reader.schema(schema)).load()
        query = (
            rows.writeStream.foreachBatch(self._count)
            .option("checkpointLocation", str(checkpoint))
            # The second one does not come
            .trigger(processingTime="1 hour")
            .start()
        )
        try:
            wait_until(lambda: query.lastProgress or not query.isActive, "a progress")
            assert query.isActive, query.exception()
            self._source = query.lastProgress.sources[0]
        finally:
            query.stop()

    def _count(self, batch: Any, _: int) -> None:
        self.rows, self.tasks = batch.count(), batch.rdd.getNumPartitions()

    def ranges(self) -> dict[tuple[str, int], tuple[int, int]]:
        start, end = (json.loads(text or "null") or {} for text in (self._source.startOffset, self._source.endOffset))
        # Spark keeps no beginning of the first micro-batch
        begin = {**start.get("topics", {}), **end.get("from", {})}
        return {
            (topic, int(partition)): (begin[topic][partition], offset)
            for topic, partitions in end.get("topics", {}).items()
            for partition, offset in partitions.items()
            if self.rows and offset > begin[topic][partition]
        }


@pytest.mark.parametrize("job", nightly_but(STREAMS, STREAMS[0]), ids=lambda job: job.name)
def test_a_stream_begins_as_planned(spark, fill, tmp_path, job):
    options = fill(job.options)
    plan = millrace.plan(options, schema=job.schema, streaming=True)
    assert plan.problems == ()
    (read,) = plan.reads
    batch = FirstBatch(spark, options, tmp_path / "checkpoint", job.schema)
    assert (read.tasks, ranges_of(read)) == (batch.tasks, batch.ranges())
    check_rows(read.rows, batch.rows, is_exact=job.is_exact)
    assert batch.rows > 0 or "latest" in job.name


def test_a_checkpoint_goes_on_as_planned(spark, fill, tmp_path, broker, make_topic):
    topic = make_topic(2)
    produce(broker.bootstrap_servers, topic, _numbered(2))
    options = fill({"topic": topic, **EARLIEST, "scan.max-records-per-batch": "25"})
    checkpoint = tmp_path / "checkpoint"
    assert FirstBatch(spark, options, checkpoint).rows == 25

    def planned() -> Any:
        plan = millrace.plan(options, checkpoint=str(checkpoint))
        assert plan.problems == ()
        return plan.reads[0]

    read = planned()
    assert "by the checkpoint, with micro-batch 1" in read.start
    assert sum(each.remaining for each in read.ranges) == 10
    second = FirstBatch(spark, options, checkpoint)
    assert (read.rows.most, read.tasks, ranges_of(read)) == (second.rows, second.tasks, second.ranges())

    # As after a failure within the last micro-batch
    forget_newest_commit(checkpoint)
    repeated = planned()
    assert "micro-batch 1 was begun, and is repeated" in repeated.start
    assert (ranges_of(repeated), repeated.splits) == (ranges_of(read), read.splits)
    third = FirstBatch(spark, options, checkpoint)
    assert (repeated.rows.most, repeated.tasks) == (third.rows, third.tasks) == (second.rows, second.tasks)


SQL_TABLE = """CREATE TABLE source (id BIGINT, name STRING) WITH ('connector' = 'kafka',
    'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json',
    'scan.startup.mode' = 'earliest-offset', 'scan.max-records-per-batch' = '50');
CREATE TABLE target (id BIGINT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json');
"""


@pytest.mark.parametrize(
    ("mode", "query", "rows"),
    [
        ("batch", "SELECT id, name FROM source WHERE id >= 10 LIMIT 25", 25),
        ("streaming", "SELECT id, name FROM source WHERE id % 2 = 0", 45),
    ],
)
def test_sql_is_as_planned(spark, topics, connection, tmp_path, mode, query, rows):
    definitions = SQL_TABLE.format(
        topic=topics.orders, servers=connection["properties.bootstrap.servers"], path=tmp_path / "out"
    )
    settings = {"execution.runtime-mode": mode, "execution.checkpointing.dir": str(tmp_path / "checkpoints")}
    insert = f"INSERT INTO target {query}"
    planned = TableEnvironment(spark, config=settings, dry_run=True).plan_sql(f"{definitions}{insert}")
    assert planned.problems == ()
    assert [each.kind for each in planned.creates] == ["table", "table", *["consumer group"] * (mode == "streaming")]
    (read,) = planned.reads
    assert "target" in planned.writes[0].name

    environment = TableEnvironment(spark, config=settings)
    environment.execute_script(definitions)
    assert environment.plan_sql(insert).reads == planned.reads
    if mode == "batch":
        table = environment.sql_query("SELECT id, name FROM source")
        assert (table.rdd.getNumPartitions(), table.count()) == (read.tasks, read.rows.most)
        environment.execute_sql(insert).wait()
    else:
        result = environment.execute_sql(insert)
        (query_,) = result.queries
        wait_until(lambda: not query_.isActive or len(done(query_)) >= 2, "two micro-batches")
        first = done(query_)[0]
        assert first.numInputRows == read.rows.most == 50
        offsets = json.loads(first.sources[0].endOffset)["topics"][topics.orders]
        assert {str(each.partition): each.end for each in read.ranges} == offsets
        query_.processAllAvailable()
        result.get_job_client().cancel()
    assert spark.read.json(str(tmp_path / "out")).count() == rows <= 90


def done(query: Any) -> list[Any]:
    return [each for each in query.recentProgress if each.numInputRows]


def test_a_plan_without_reading_bounds_rows_and_changes_nothing(fill, topics, broker):
    def state() -> tuple[set[str], set[str]]:
        return group_names(broker.bootstrap_servers), topic_names(broker.bootstrap_servers)

    before = state()
    ledger = millrace.plan(fill({"topic": "{ledger}"}), count_limit=0).reads[0]
    # 3 transactions of 10 messages, each with a marker
    assert (ledger.messages.most, ledger.messages.is_exact) == (33, False)
    assert "markers of transactions" in str(ledger.rows)
    table = millrace.plan(fill({"topic": "{table}"}), count_limit=0).reads[0]
    assert str(table.rows).startswith("at most 60 (topic")
    assert "compacted" in str(table.rows)
    assert (table.span.first_ms, table.span.last_ms) == (START_MS, START_MS + 29_000)

    servers = broker.bootstrap_servers
    arguments = [
        "--bootstrap-servers",
        servers,
        "--topic",
        topics.orders,
        "--stream",
        "--option",
        "format=json",
        "--json",
    ]
    told = CliRunner().invoke(plan_command, arguments)
    assert told.exit_code == 0, told.output
    assert json.loads(told.output)["reads"][0]["tasks"] == 0

    written = millrace.plan(
        fill(
            {
                "topic": "{prefix}-new",
                "sink.topic.create": "true",
                "sink.topic.create.partitions": "4",
                "sink.delivery-guarantee": "exactly-once",
                "sink.transactional-id-prefix": "plans",
                "properties.group.id": "new-group",
                "properties.ssl.truststore.password": "very-secret",
            }
        ),
        writes=True,
    )
    assert written.writes[0].exists is False
    assert [each.detail for each in written.creates if each.kind == "topic"] == ["4 partitions"]
    needed = Counter((each.resource, each.operation) for each in written.permissions)
    assert needed["transactional id", "WRITE"] == needed["topic", "CREATE"] == needed["group", "READ"] == 1
    assert "very-secret" not in str(written)
    assert "very-secret" not in json.dumps(written.to_json())
    assert state() == before


def test_what_would_end_a_run_is_a_problem(fill, topics):
    plan = millrace.plan(fill({"topic": "{orders}-missing"}))
    assert any("no topic" in each for each in plan.problems)
    fails = millrace.plan(fill({"topic": "{ledger}", "format": "json"}), schema=None)
    assert fails.problems
