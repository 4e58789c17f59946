"""Micro-batches that a run repeats after an earlier one has written some of them; single tasks, on the real broker."""

from __future__ import annotations

import dataclasses
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from confluent_kafka.admin import AdminClient

from millrace.configuration.build import configure_sink
from millrace.errors import FencedError, LedgerError
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.kafka.write_admin import WriteAdmin
from millrace.sink.committer.checkpoint_evidence import planned_batch
from millrace.sink.committer.ledger_store import ledger_group, read_ledger, transactional_id
from millrace.sink.committer.unfinished_batches import await_confirmations, unfinished_batch
from millrace.sink.pipeline import commit_micro_batch, write
from millrace.sink.preflight import prepare
from millrace.sink.write_task import WriteTask
from millrace.worker import WorkerResources
from support.kafka import consume
from support.waiting import PATIENCE_S, wait_until

SCHEMA = pa.schema([("value", pa.binary())])


@pytest.fixture
def topic(make_topic, request):
    """A topic, with the settings that a test's parameter has."""
    return make_topic(2, getattr(request, "param", None))


@pytest.fixture
def options(connection, topic):
    guarantee = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": f"p-{topic}"}
    return {**connection, "topic": topic, **guarantee}


@pytest.fixture
def config(options):
    return prepare(configure_sink(options))


@pytest.fixture
def comparing(options):
    return prepare(configure_sink({**options, "sink.exactly-once.if-in-doubt": "compare"}))


@pytest.fixture
def values(broker, topic):
    return lambda: sorted(message.value().decode() for message in consume(broker.bootstrap_servers, topic))


def write_task(config, run, index, *values, batch=0, planned=None):
    """Write as a worker of its own."""
    rows = [pa.record_batch([pa.array([value.encode() for value in values])], schema=SCHEMA)] if values else []
    task = WriteTask(index, 0, "me", batch, is_streaming=True, run=run, planned=planned)
    return write(config, SCHEMA, rows, task, resources=WorkerResources())


def test_tasks_that_had_not_written_wait_for_those_that_had(config, values):
    write_task(config, "one", 0, "a", "b")
    with ThreadPoolExecutor() as pool:
        other = pool.submit(write_task, config, "two", 1, "c")
        with pytest.raises(LedgerError, match=r"was written with 2 rows by this task before, and is repeated with 1\."):
            write_task(config, "two", 0, "a")
        with pytest.raises(LedgerError, match=r"was written with 2 rows by this task before, and is repeated with 0\."):
            write_task(config, "two", 0)
        assert values() == ["a", "b"]
        assert not other.done()
        # As it was before
        assert write_task(config, "two", 0, "a", "b").is_skipped
        assert other.result().rows == 1
    assert values() == ["a", "b", "c"]


def test_tasks_wait_also_for_later_ones_that_had_written(config):
    write_task(config, "one", 1, "b", "c")
    task = WriteTask(0, 0, "me", 0, is_streaming=True, run="two")
    found = unfinished_batch(config, task, WorkerResources())
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(await_confirmations, config, task, found, later_timeout_s=PATIENCE_S)
        with pytest.raises(LedgerError, match=r"was written with 2 rows by this task before, and is repeated with 1\."):
            write_task(config, "two", 1, "c")
        assert not waiting.done()
        # As it was before
        assert write_task(config, "two", 1, "b", "c").is_skipped
        waiting.result()
    assert found.settled == {1}


def test_a_later_task_that_may_wait_for_a_core_is_waited_for_once(config, caplog):
    write_task(config, "one", 2, "c")
    resources = WorkerResources()
    for index in range(2):
        task = WriteTask(index, 0, "me", 0, is_streaming=True, run="two")
        await_confirmations(config, task, unfinished_batch(config, task, resources), later_timeout_s=1.0)
    (warning,) = [message for message in caplog.messages if "without having seen" in message]
    assert warning.startswith(
        "task 0 of micro-batch 0 writes without having seen that tasks [2], which had written before"
    )


def test_nothing_is_written_without_a_later_task_where_spark_may_divide_anew(config):
    write_task(config, "one", 2, "c")
    task = WriteTask(0, 0, "me", 0, is_streaming=True, run="two", may_divide_anew=True)
    found = unfinished_batch(config, task, WorkerResources())
    with pytest.raises(LedgerError, match=r"tasks \[2\] had written some of micro-batch 0 before, and have not shown"):
        await_confirmations(config, task, found, later_timeout_s=1.0)


def test_a_task_of_an_older_checkpoint_writes_nothing_where_another_is_ahead(config, values):
    for batch in range(2):
        write_task(config, "one", 3, "a", batch=batch)
    with pytest.raises(FencedError, match=r"micro-batch 0 .* is out of date: task 3 has written micro-batch 1"):
        write_task(config, "two", 0, "b")
    assert values() == ["a", "a"]


def test_one_task_writes_what_two_divisions_have_left_out(config, comparing, values, topic):
    write_task(config, "one", 0, "a", "b")
    write_task(config, "one", 1, "c")
    with pytest.raises(LedgerError, match=r"is repeated with 1\. .* 'sink.exactly-once.if-in-doubt' = 'compare'"):
        write_task(config, "two", 0, "a")
    dead = TransactionalProducer(config.client, transactional_id(config, 1))
    dead.init_transactions()
    dead.begin_transaction()
    for partition in range(2):
        dead.client.produce(topic, b"never seen", partition=partition)
    dead.client.flush()
    # Behind what is open
    write_task(config, "one", 2, "d")

    with pytest.raises(LedgerError, match=r"all rows of micro-batch 0 in one task, .* task 1 has some"):
        write_task(comparing, "three", 1, "b")
    result = write_task(comparing, "three", 0, "a", "b", "b", "c", "d", "e")
    assert (result.rows, result.records) == (6, 2)
    commit_micro_batch(comparing, "me", f"{topic}-three", 0, {0: result})
    assert values() == ["a", "b", "b", "c", "d", "e"]
    for run in ("three", "four"):
        assert write_task(comparing, run, 0, "a", "b", "b", "c", "d", "e").records == 0
    assert write_task(comparing, "three", 1, "f", batch=1).records == 1
    assert values() == ["a", "b", "b", "c", "d", "e", "f"]


def test_a_run_that_repeats_nothing_compares_nothing(comparing, values):
    for batch in range(2):
        assert write_task(comparing, "one", 0, "a", batch=batch).records == 1
    assert values() == ["a", "a"]


def test_rows_with_timestamps_of_their_own_are_not_compared(config, comparing, values):
    schema = pa.schema([("value", pa.binary()), ("timestamp", pa.timestamp("us", "UTC"))])
    rows = [pa.record_batch([pa.array([b"a"]), pa.array([1_000_000], pa.timestamp("us", "UTC"))], schema=schema)]
    for run, wanted in (("one", config), ("two", comparing)):
        task = WriteTask(0, 0, "me", 0, is_streaming=True, run=run)
        if wanted is comparing:
            with pytest.raises(LedgerError, match="these rows give the timestamps of their records"):
                write(wanted, schema, rows, task, resources=WorkerResources())
        else:
            write(wanted, schema, rows, task, resources=WorkerResources())
    assert values() == ["a"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("topic", "reason"),
    [
        (
            {"message.timestamp.type": "LogAppendTime"},
            r"the brokers of topic '.*' replace by their own \('message.timestamp.type' = 'LogAppendTime'\)",
        ),
        ({"cleanup.policy": "compact"}, "topic '.*' is compacted: it may have lost those that later ones .* replace"),
    ],
    ids=["times of brokers", "compacted"],
    indirect=["topic"],
)
def test_topics_that_replace_records_or_their_times_are_not_compared(config, comparing, values, reason):
    def write_keyed(wanted, run, *values):
        rows = pa.record_batch({"key": [b"k"] * len(values), "value": list(values)})
        task = WriteTask(0, 0, "me", 0, is_streaming=True, run=run)
        return write(wanted, rows.schema, [rows], task, resources=WorkerResources())

    write_keyed(config, "one", b"a")
    for run in ("two", "three"):
        with pytest.raises(LedgerError, match=f"'sink.exactly-once.if-in-doubt' = 'compare' .* {reason}"):
            write_keyed(comparing, run, b"a", b"b")
    assert values() == ["a"]


def test_ledgers_that_somebody_has_deleted_are_noticed_by_the_checkpoint(config, options, values, broker, tmp_path):
    config = dataclasses.replace(config, checkpoint_location=str(tmp_path))
    result = write_task(config, "one", 0, "a")
    commit_micro_batch(config, "me", "one", 0, {0: result})
    write_task(config, "one", 0, "b", batch=1)
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "1").write_text(f'v1\n{{"batchTimestampMs":{int(time.time() * 1000)}}}\n{{}}')

    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    groups = [group for group in WriteAdmin(config.client).groups() if group.startswith(f"p-{options['topic']}.")]
    for deleted in admin.delete_consumer_groups(groups).values():
        deleted.result()
    # The disk of another container has no note of the run
    with pytest.raises(
        LedgerError, match=r"micro-batch 0 of the query was completed, .* but Kafka knows of none: the c"
    ):
        write_task(config, "two", 0, "b", batch=1, planned=planned_batch(config, None))
    assert values() == ["a", "b"]


def test_a_ledger_tells_the_run_that_has_seen_the_rows_last(config):
    def newest():
        ledger, _ = read_ledger(config, ledger_group(config, 0))
        return ledger.entries[0]

    write_task(config, "one", 0, "a")
    first = newest()
    write_task(config, "two", 0, "a")
    wait_until(lambda: newest().run == "two", "the second run to confirm")
    assert (newest().rows, newest().began_ms) == (1, first.began_ms)
