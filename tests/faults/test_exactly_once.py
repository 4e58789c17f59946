"""Exactly-once writes whose workers, drivers and brokers are killed, compared with their input record by record."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

from millrace.configuration.build import configure_sink
from millrace.errors import ClientError, FencedError
from millrace.kafka.offset_metadata import offset_with_metadata, read_offset_metadata
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.options.secrets import Properties
from millrace.sink.committer.checkpoint_evidence import NOTE
from millrace.sink.committer.ledger_store import ledger_group, read_ledger, registration_group
from millrace.sink.pipeline import write
from millrace.sink.preflight import prepare
from millrace.sink.write_task import WriteTask
from millrace_broker import KafkaBroker
from support.checkpoints import forget_newest_commit
from support.copying import KILL_POINTS
from support.kafka import QUICK_BROKER, consume, produce
from support.open_transactions import open_transactions
from support.waiting import wait_until

NUMBERS = 4_000
POINTS = ["before produce", "before commit", "after commit"]


@pytest.fixture
def source(broker, make_topic):
    name = make_topic(4)
    records = ({"value": str(number).encode(), "partition": number % 4} for number in range(NUMBERS))
    produce(broker.bootstrap_servers, name, records)
    return name


@pytest.fixture
def copy(nothing_left, broker, source, make_topic, copying):
    # Each micro-batch has a task for each partition, however few its records are
    return copying(broker.bootstrap_servers, source, make_topic(3), read={"scan.parallelism": "4"})


@pytest.mark.parametrize("point", POINTS)
def test_killed_workers(spark, copy, point):
    spark.sparkContext.addPyFile(str(KILL_POINTS))
    copy.give_tokens(4)
    copy.start(spark, point).awaitTermination()
    assert copy.used() == 4
    assert copy.copied() == Counter(range(NUMBERS))


def test_killed_workers_lose_nothing_at_least_once(spark, copy):
    copy.guarantee = "at-least-once"
    spark.sparkContext.addPyFile(str(KILL_POINTS))
    copy.give_tokens(4)
    copy.start(spark, "before produce").awaitTermination()
    assert copy.used() == 4
    assert set(copy.copied()) == set(range(NUMBERS))


def test_killed_drivers(copy):
    for kill, point in enumerate(POINTS, start=1):
        copy.give_tokens(1)
        with copy.driver(point) as running:
            wait_until(lambda kill=kill: copy.used() == kill, f"the driver to be {point}")
            running.kill()
    with copy.driver(cores=1) as running:
        running.result()
    assert copy.copied() == Counter(range(NUMBERS))

    # Killed after all tasks had committed, and before Spark took note of it
    forget_newest_commit(copy.folder / "checkpoint")
    with copy.driver() as running:
        running.result()
    assert copy.copied() == Counter(range(NUMBERS))
    # As many as tasks, however many drivers and workers there were
    assert copy.transactional_ids() == {f"{copy.prefix}-{task}" for task in range(4)}


def test_a_killed_query_blocks_readers_no_longer_than_its_restart_takes(copy):
    copy.give_tokens(1)
    with copy.driver("before commit") as running:
        wait_until(lambda: copy.used() == 1, "the driver to be in a transaction")
        running.kill()
    left = copy.open_transactions()
    assert left

    def is_open(transactional_id):
        return copy.open_transactions().get(transactional_id) == left[transactional_id]

    # It stays in its own transactions, so that taking over alone can have ended those
    copy.give_tokens(4)
    with copy.driver("before commit", cores=4) as running:
        wait_until(lambda: not any(map(is_open, left)), "the driver to end what it was killed in")
        wait_until(lambda: copy.used() > 1, "the driver to be in a transaction of its own")
        running.kill()
    with copy.driver() as running:
        running.result()
    assert copy.open_transactions() == {}
    assert copy.copied() == Counter(range(NUMBERS))


def test_a_restart_with_fewer_tasks_ends_the_transactions_of_those_that_are_gone(copy):
    copy.read["scan.max-records-per-batch"] = str(NUMBERS)
    copy.give_tokens(4)
    with copy.driver("in commit", cores=4, tasks=4) as running:
        wait_until(lambda: copy.used() == 4, "all tasks to be in their commits")
        running.kill()
    assert len(copy.open_transactions()) == 4
    with copy.driver(tasks=2) as running:
        running.result()
    assert copy.open_transactions() == {}


def kill_when_two_of_four_tasks_have_written(copy):
    copy.give_tokens(2)
    with copy.driver("after commit", cores=2, tasks=4) as running:
        wait_until(lambda: copy.used() == 2, "two tasks to have committed")
        running.kill()
    written = copy.copied()
    assert 0 < written.total() < 1_000
    return written


def test_a_query_killed_on_two_cores_goes_on_with_five_and_is_refused_with_another_division(copy):
    written = kill_when_two_of_four_tasks_have_written(copy)
    with copy.driver(cores=5, tasks=3) as running, pytest.raises(AssertionError, match="rows by this task before"):
        running.result()
    # Neither has a task written that had not written before
    assert copy.copied() == written
    with copy.driver(cores=5, tasks=4) as running:
        running.result()
    assert copy.copied() == Counter(range(NUMBERS))


def test_one_task_that_compares_goes_on_after_any_division(copy):
    kill_when_two_of_four_tasks_have_written(copy)
    comparing = {**copy.write_options(), "sink.exactly-once.if-in-doubt": "compare"}
    with copy.driver(tasks=1, write=comparing) as running:
        running.result()
    assert copy.copied() == Counter(range(NUMBERS))


@pytest.fixture
def own(tmp_path_factory):
    """A broker that tests may end; its data stay."""
    with KafkaBroker(data_dir=tmp_path_factory.mktemp("kafka"), java_options=QUICK_BROKER) as running:
        running.create_topic("target", 2)
        yield running


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_worker_goes_on_when_the_broker_of_its_ledger_was_restarted(own, end):
    options = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "copy", "topic": "target"}
    config = prepare(configure_sink({"properties.bootstrap.servers": own.bootstrap_servers, **options}))
    schema = pa.schema([("value", pa.binary())])
    for batch in range(2):
        task = WriteTask(0, 0, "me", batch, is_streaming=True)
        write(config, schema, [pa.record_batch([pa.array([b"%d" % batch])], schema=schema)], task)
        getattr(own, end)()
        own.start()

    # A transaction is decided before readers are told, which a broker does when it is back
    wait_until(lambda: len(consume(own.bootstrap_servers, "target")) == 2, "both transactions to be visible")
    assert sorted(message.value() for message in consume(own.bootstrap_servers, "target")) == [b"0", b"1"]


def test_a_producer_does_not_wait_for_ever_for_the_broker_of_a_ledger(own):
    client = Properties({"bootstrap.servers": own.bootstrap_servers})
    producer = TransactionalProducer(client, "copy-0")
    producer.init_transactions()
    _, group = read_offset_metadata(client, "copy-0", "target")
    producer.begin_transaction()
    producer.client.produce("target", b"first")
    producer.commit_transaction({group: offset_with_metadata("target", 1, "first")})
    producer.begin_transaction()
    producer.client.produce("target", b"second")
    producer.client.flush()

    own.kill()
    with pytest.raises(ClientError, match="adding an offset to a transaction with transactional id 'copy-0'"):
        producer.commit_transaction({group: offset_with_metadata("target", 2, "second")})
    own.start()

    TransactionalProducer(client, "copy-0").init_transactions()
    assert read_offset_metadata(client, "copy-0", "target")[0] == "first"
    assert [message.value() for message in consume(own.bootstrap_servers, "target")] == [b"first"]


@pytest.fixture
def impatient():
    """A broker that aborts transactions as soon as their timeout is over."""
    with KafkaBroker(properties={"transaction.abort.timed.out.transaction.cleanup.interval.ms": "100"}) as running:
        running.create_topic("target", 2)
        yield running


@pytest.mark.parametrize("more", [0, 1])
def test_a_task_longer_than_its_transaction_is_told_the_timeout(impatient, more):
    options = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "copy", "topic": "target"}
    options |= {
        "properties.transaction.timeout.ms": "1000",
        "properties.bootstrap.servers": impatient.bootstrap_servers,
    }
    schema = pa.schema([("value", pa.binary())])
    batch = pa.record_batch([pa.array([b"a"])], schema=schema)

    def is_open():
        return open_transactions(impatient.bootstrap_servers, "copy")

    def slow_batches():
        yield batch
        wait_until(is_open, "the transaction to begin")
        wait_until(lambda: not is_open(), "the brokers to abort the transaction")
        yield from [batch] * more

    task = WriteTask(0, 0, "me", 0, is_streaming=True)
    config = prepare(configure_sink(options))
    with pytest.raises(FencedError, match=r"was open for \d+ s, .* after 'properties.transaction.timeout.ms' = 1000"):
        write(config, schema, slow_batches(), task, successor_timeout_s=0.0)
    assert write(config, schema, [batch], task).rows == 1
    assert [message.value() for message in consume(impatient.bootstrap_servers, "target")] == [b"a"]


@pytest.fixture
def forgetful():
    """A broker that keeps offsets for a minute."""
    retention = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"}
    with KafkaBroker(properties=retention) as running:
        running.create_topic("source", 2)
        yield running


class Idle:
    """An exactly-once copy of a broker's topic ``source``; what it has written expires while it is idle."""

    def __init__(self, spark, servers, folder, name):
        self.name, self.checkpoint, self._servers, self._spark = name, folder / name, servers, spark
        self._options = {
            "properties.bootstrap.servers": servers,
            "sink.delivery-guarantee": "exactly-once",
            "sink.transactional-id-prefix": name,
            "topic": name,
        }

    def start(self, **options):
        connection = {"properties.bootstrap.servers": self._servers, "topic": "source"}
        read = {**connection, "scan.startup.mode": "earliest-offset", "scan.parallelism": "2"}
        rows = self._spark.readStream.format("millrace").options(**read).load().select("value")
        writer = rows.writeStream.format("millrace").options(**self._options | options)
        return writer.option("checkpointLocation", str(self.checkpoint)).start()

    def copy(self, **options):
        """Copy what there is, and stop."""
        query = self.start(**options)
        try:
            query.processAllAvailable()
        finally:
            query.stop()

    def has_expired(self):
        config = prepare(configure_sink(self._options))
        assert config.ledger_retention_s == 60.0
        groups = (registration_group(config), ledger_group(config, 0), ledger_group(config, 1))
        return not any(read_ledger(config, group)[0] for group in groups)

    def copied(self):
        return sorted(message.value() for message in consume(self._servers, self.name))


IN_DOUBT = r"this is micro-batch {} of its query, but it was planned 0\.0 days ago, and what tasks have written"


def test_queries_that_were_idle_until_their_ledgers_expired(spark, forgetful, tmp_path):
    servers = forgetful.bootstrap_servers
    running, stopped, first, second = queries = [
        Idle(spark, servers, tmp_path, name) for name in ("running", "stopped", "first", "second")
    ]
    for each in queries:
        forgetful.create_topic(each.name, 2)
    produce(servers, "source", [{"value": b"a", "partition": 0}])
    query = running.start()
    try:
        query.processAllAvailable()
        for each in (stopped, first, second):
            each.copy()
        note = (second.checkpoint / NOTE).read_text()
        produce(servers, "source", [{"value": b"b", "partition": 1}])
        for each in (stopped, second):
            each.copy()
        # As if they had been killed in their first and second micro-batch, before the driver had registered it
        forget_newest_commit(first.checkpoint)
        (first.checkpoint / NOTE).unlink()
        forget_newest_commit(second.checkpoint)
        (second.checkpoint / NOTE).write_text(note)
        query.processAllAvailable()
        assert not running.has_expired()
        waiting = list(queries)

        def have_expired():
            waiting[:] = [each for each in waiting if not each.has_expired()]
            return not waiting

        wait_until(have_expired, "ledgers to expire")
        produce(servers, "source", [{"value": b"c", "partition": 0}, {"value": b"d", "partition": 1}])
        query.processAllAvailable()
    finally:
        query.stop()
    assert running.copied() == [b"a", b"b", b"c", b"d"]

    stopped.copy()
    assert stopped.copied() == [b"a", b"b", b"c", b"d"]

    for doubtful, batch in ((first, 0), (second, 1)):
        before = doubtful.copied()
        with pytest.raises(StreamingQueryException, match=IN_DOUBT.format(batch)):
            doubtful.copy()
        assert doubtful.copied() == before
        doubtful.copy(**{"sink.exactly-once.if-in-doubt": "skip"})
        assert doubtful.copied() == [b"a", b"b", b"c", b"d"]
