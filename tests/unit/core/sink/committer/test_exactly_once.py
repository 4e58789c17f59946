"""The steps of the exactly-once commit, with a producer that records what it is asked to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from millrace.configuration import SinkConfig
from millrace.contracts import Payloads
from millrace.errors import ClientError, DeliveryError, FencedError, LedgerError
from millrace.kafka.retry import Clock
from millrace.records.producer_records import ProducerRecords
from millrace.sink.committer.exactly_once import LOOKUPS, CommitLookups, write_exactly_once
from millrace.sink.committer.ledger import Ledger, LedgerEntry
from millrace.sink.committer.producer_sessions import TransactionSession, TransactionSessions
from millrace.sink.committer.record_digest import RecordDigest
from millrace.sink.write_task import PlannedBatch, WriteResult, WriteTask
from support.records import sink_config

OPTIONS = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "copy"}
CONFIG = sink_config(topic="orders", **OPTIONS)
SKIPPING = sink_config(topic="orders", **OPTIONS, **{"sink.exactly-once.if-in-doubt": "skip"})
WRITING = sink_config(topic="orders", **OPTIONS, **{"sink.exactly-once.if-in-doubt": "write"})
TASK = WriteTask(3, 0, "run-1")
EMPTY = pa.record_batch({"value": pa.array([], pa.binary())})
ROWS = pa.record_batch({"value": pa.array([b"a", b"b"])})


class Producer:
    """Notes the calls of a transaction."""

    transactional_id = "copy-3"

    def __init__(self, fail_to_abort: Exception | None = None) -> None:
        self.calls: list[str] = []
        self.committed: dict[bytes, Any] = {}
        self._fail_to_abort = fail_to_abort

    def begin_transaction(self) -> None:
        self.calls.append("begin")

    def commit_transaction(self, offsets: dict[bytes, Any]) -> None:
        self.calls.append("commit")
        self.committed = offsets

    def abort_transaction(self) -> None:
        self.calls.append("abort")
        if self._fail_to_abort is not None:
            raise self._fail_to_abort


class Sessions(TransactionSessions):
    """Opens one session, or fails to."""

    def __init__(self, ledger: Ledger | None = None, producer: Producer | None = None) -> None:
        self.producer = producer or Producer()
        self.session = TransactionSession(self.producer, b"copy-3", ledger)
        self.kept: list[TransactionSession] = []
        self.failure: Exception | None = None
        self.successors_ledger: Ledger | None = None

    def open(self, config: object, task: object) -> TransactionSession:
        self.producer.calls.append("open")
        if self.failure is not None:
            raise self.failure
        return self.session

    def committed_ledger(self, config: object, task: object) -> Ledger | None:
        return self.successors_ledger

    def keep(self, config: object, task: object, session: TransactionSession) -> None:
        self.kept.append(session)


class LosingReader:
    """Reads a ledger that the brokers have lost for some time."""

    def __init__(self, session: TransactionSession, lost: int, failure: Exception | None = None) -> None:
        self._session, self._lost, self._failure = session, lost, failure

    def read(self, end_open_offset: object) -> tuple[Ledger | None, bytes]:
        if self._failure is not None:
            raise self._failure
        self._lost -= 1
        return (None if self._lost >= 0 else self._session.ledger), b""


def produce(producer: Any, batches: Iterator[pa.RecordBatch], already: object = None) -> WriteResult:
    found = RecordDigest()
    values = [batch.column(0).to_pylist() for batch in batches]
    for each in values:
        found.add(ProducerRecords("orders", Payloads(each)))
    rows = sum(map(len, values))
    if producer is not None:
        producer.calls.append(f"produce {rows}")
    return WriteResult(rows, rows, digest=str(found))


def run(
    sessions: Sessions,
    *batches: pa.RecordBatch,
    produce_rows: Callable[..., WriteResult] = produce,
    config: SinkConfig = CONFIG,
    task: WriteTask = TASK,
    lookups: CommitLookups = LOOKUPS,
) -> WriteResult:
    return write_exactly_once(
        config, task, batches, produce_rows, sessions=sessions, successor_timeout_s=0.0, lookups=lookups
    )


@pytest.fixture
def heartbeats() -> list[LedgerEntry | None]:
    """The heartbeats that a fenced attempt finds, one after the other; then the last of them for ever."""
    return [None]


@pytest.fixture
def lookups(heartbeats: list[LedgerEntry | None]) -> CommitLookups:
    """Brokers that know no query of the prefix, and a clock that need not be waited for."""
    return CommitLookups(
        read_registration=lambda *_: None,
        last_heartbeat=lambda *_: heartbeats.pop(0) if len(heartbeats) > 1 else heartbeats[0],
        clock=Clock(sleep=lambda _: None),
    )


@pytest.mark.parametrize(
    ("planned", "calls"),
    [
        (PlannedBatch(5, time.time(), "me", 3), ["open", "produce 2", "commit"]),
        (PlannedBatch(5, time.time(), "me", 3, time.time() - 8 * 86_400), ["open", "produce 2", "commit"]),
        (PlannedBatch(5, time.time(), "me", 5, time.time()), ["open", "abort"]),
        (
            PlannedBatch(5, time.time(), "me", 3, time.time() - 7_200),
            r"micro-batch 3 of the query was completed, \d\.\d hours ago, but Kafka knows of none: the consumer groups "
            r"'copy\.millrace-\.\.\.', or topic 'orders' whose offsets they hold, were deleted",
        ),
        # All tasks had written, and Spark did not take note of it
        (PlannedBatch(5, 0.0, "me", 5), ["open", "abort"]),
        (PlannedBatch(5, 0.0, "me", 3), "it was planned"),
        (PlannedBatch(5, time.time(), "another query", 3), "Kafka knows of none before"),
        (PlannedBatch(5, time.time()), "Kafka knows of none before"),
    ],
)
def test_what_brokers_have_forgotten_the_checkpoint_knows(
    lookups: CommitLookups, planned: PlannedBatch, calls: list[str] | str
) -> None:
    sessions = Sessions()
    task = WriteTask(3, 0, "me", 5, is_streaming=True, planned=planned)
    if isinstance(calls, str):
        with pytest.raises(LedgerError, match=calls):
            run(sessions, ROWS, task=task, lookups=lookups)
        return
    run(sessions, ROWS, task=task, lookups=lookups)
    assert sessions.producer.calls == calls


def written(rows: int, query: str = "run-1") -> Ledger:
    return Ledger((LedgerEntry(query, 0, rows, 0),))


def test_a_task_without_rows_opens_no_transaction() -> None:
    sessions = Sessions()
    assert run(sessions, EMPTY, EMPTY) == WriteResult()
    assert sessions.producer.calls == []


def test_rows_are_committed_with_the_ledger_that_says_so() -> None:
    sessions = Sessions()
    assert run(sessions, EMPTY, ROWS, ROWS) == WriteResult(4, 4, is_new=True)
    assert sessions.producer.calls == ["open", "produce 4", "commit"]
    (offset,) = sessions.producer.committed.values()
    assert (offset.topic, offset.partition, offset.offset) == ("orders", 0, 1)
    ledger = Ledger.parse(offset.metadata)
    assert [(entry.query, entry.batch, entry.rows) for entry in ledger.entries] == [("run-1", 0, 4)]
    assert sessions.session.ledger == ledger
    assert sessions.kept == [sessions.session]


def test_the_ledger_keeps_what_other_queries_have_written() -> None:
    sessions = Sessions(written(7, "run-0"))
    run(sessions, ROWS)
    assert sessions.session.ledger is not None
    assert [entry.query for entry in sessions.session.ledger.entries] == ["run-1", "run-0"]


def test_rows_that_are_written_already_are_not_produced() -> None:
    sessions = Sessions(written(2))
    assert run(sessions, ROWS) == WriteResult(is_skipped=True, is_new=True)
    assert sessions.producer.calls == ["open", "abort"]
    assert sessions.kept == [sessions.session]


def test_a_run_confirms_what_an_earlier_one_has_written() -> None:
    sessions = Sessions(Ledger((LedgerEntry("run-1", 0, 2, 0, "earlier", began_ms=77),)))
    assert run(sessions, ROWS).is_skipped
    assert sessions.producer.calls == ["open", "commit"]
    assert sessions.session.ledger is not None
    (entry,) = sessions.session.ledger.entries
    assert (entry.rows, entry.run, entry.began_ms) == (2, "", 77)


def other_rows() -> Ledger:
    """The ledger of a task that has written as many rows as `ROWS`, but others."""
    digest = RecordDigest()
    digest.add(ProducerRecords("orders", Payloads([b"b", b"c"])))
    return Ledger((LedgerEntry("run-1", 0, 2, 0, "earlier", "", 77, str(digest)),))


def test_as_many_other_rows_are_not_taken_for_those_that_were_written() -> None:
    sessions = Sessions(other_rows())
    with pytest.raises(
        LedgerError, match="with 2 rows by this task before, and is repeated with as many other ones"
    ) as e:
        run(sessions, ROWS)
    assert "'sink.exactly-once.compare-by' = 'count'" in str(e.value)
    assert sessions.producer.calls == ["open", "abort"]


def test_as_many_other_rows_are_skipped_or_written_as_the_user_says(caplog: pytest.LogCaptureFixture) -> None:
    sessions = Sessions(other_rows())
    assert run(sessions, ROWS, config=SKIPPING).is_skipped
    sessions = Sessions(other_rows())
    assert run(sessions, ROWS, config=WRITING).rows == 2
    assert sessions.producer.calls == ["open", "produce 2", "commit"]
    assert ["as many other ones. " in message for message in caplog.messages] == [True, True]


def test_a_second_write_of_a_callback_with_the_same_prefix_is_refused() -> None:
    task = replace(TASK, is_streaming=True, write="second")
    sessions = Sessions(Ledger((LedgerEntry("run-1", 0, 2, 0, "", "first"),)))
    with pytest.raises(LedgerError, match=r"micro-batch 0 is written twice with .* = 'copy': by two writes of one"):
        run(sessions, ROWS, config=WRITING, task=task)
    assert sessions.producer.calls == ["open", "abort"]


def test_what_is_skipped_in_doubt_is_committed_by_the_ledger_alone(
    lookups: CommitLookups, caplog: pytest.LogCaptureFixture
) -> None:
    sessions = Sessions()
    for batch, calls in ((5, ["open", "commit"]), (6, ["open", "produce 2", "commit"])):
        sessions.producer.calls.clear()
        task = replace(TASK, batch=batch)
        result = run(sessions, ROWS, config=SKIPPING, task=task, lookups=lookups)
        assert (result.is_skipped, sessions.producer.calls) == (batch == 5, calls)
    assert sessions.session.ledger is not None
    assert sessions.session.ledger.has_written("run-1", 6)
    assert ["it is skipped" in message for message in caplog.messages] == [True]


def test_a_micro_batch_that_follows_a_completed_one_of_its_run_is_in_no_doubt(lookups: CommitLookups) -> None:
    sessions = Sessions()
    task = replace(TASK, batch=7, completed_batch=5)
    result = run(sessions, ROWS, task=task, lookups=lookups)
    assert result.rows == 2
    with pytest.raises(LedgerError, match="this is micro-batch 7 of its query, but Kafka knows of none before"):
        run(Sessions(), ROWS, task=replace(task, completed_batch=None), lookups=lookups)


def test_other_rows_than_were_written_are_refused() -> None:
    sessions = Sessions(written(3))
    with pytest.raises(LedgerError, match=r"id 'copy-3': micro-batch 0 was written with 3 rows .* is repeated with 2"):
        run(sessions, ROWS)
    assert sessions.producer.calls == ["open", "abort"]
    assert sessions.kept == []


@pytest.mark.parametrize(
    ("config", "before", "calls", "outcome"),
    [
        (SKIPPING, 2, ["open", "abort"], None),
        (SKIPPING, 3, ["open", "abort"], "skipped"),
        (WRITING, 2, ["open", "produce 2", "abort"], None),
        (WRITING, 1, ["open", "produce 2", "commit"], "written"),
    ],
)
def test_other_rows_than_were_written_follow_the_users_option(
    caplog: pytest.LogCaptureFixture, config: Any, before: int, calls: list[str], outcome: str | None
) -> None:
    sessions = Sessions(written(before))
    result = run(sessions, ROWS, config=config)
    assert result.is_skipped == ("commit" not in calls)
    assert sessions.producer.calls == calls
    assert [f"are {outcome} now" in message for message in caplog.messages] == ([True] if outcome else [])


def test_a_failure_aborts_at_once_and_the_producer_is_not_kept() -> None:
    def fail(producer: Producer, *_: object) -> WriteResult:
        producer.calls.append("produce")
        raise DeliveryError("as the test wants")

    sessions = Sessions()
    with pytest.raises(DeliveryError, match="as the test wants"):
        run(sessions, ROWS, produce_rows=fail)
    assert sessions.producer.calls == ["open", "produce", "abort"]
    assert sessions.kept == []


def test_an_abort_that_fails_hides_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> WriteResult:
        raise DeliveryError("as the test wants")

    with pytest.raises(DeliveryError, match="as the test wants"):
        run(Sessions(producer=Producer(ClientError("no broker"))), ROWS, produce_rows=fail)
    assert caplog.messages == ["no broker; the next attempt aborts it"]


def test_a_fenced_attempt_whose_successor_does_not_commit_fails(lookups: CommitLookups) -> None:
    sessions = Sessions()
    sessions.failure = FencedError("taken over")
    with pytest.raises(FencedError, match="taken over"):
        run(sessions, ROWS, lookups=lookups)
    assert sessions.kept == []


def test_a_fenced_attempt_succeeds_with_its_successor() -> None:
    sessions = Sessions()
    sessions.failure = FencedError("taken over")
    sessions.successors_ledger = written(2)
    assert run(sessions, ROWS) == WriteResult(is_skipped=True, is_new=True)
    assert sessions.kept == []


@pytest.mark.parametrize(
    "entry", [LedgerEntry("run-1", 0, 2, 0, "another run"), LedgerEntry("run-1", 0, 2, 0, "", "another write")]
)
def test_a_fenced_attempt_does_not_take_the_commit_of_another_run_or_write_for_its_own(
    lookups: CommitLookups, entry: LedgerEntry
) -> None:
    sessions = Sessions()
    sessions.failure = FencedError("taken over")
    sessions.successors_ledger = Ledger((entry,))
    with pytest.raises(FencedError):
        run(sessions, ROWS, lookups=lookups)


def test_a_fenced_attempt_waits_as_long_as_heartbeats_come(
    heartbeats: list[LedgerEntry | None], lookups: CommitLookups
) -> None:
    heartbeats[:] = [LedgerEntry("run-1", 0, 0, at) for at in range(1000)]
    sessions = Sessions()
    sessions.failure = FencedError("taken over")
    with pytest.raises(FencedError, match="taken over"):
        run(sessions, ROWS, lookups=lookups)
    assert len(heartbeats) == 1


def test_a_fenced_attempt_does_not_wait_longer_than_a_transaction_may_take(
    heartbeats: list[LedgerEntry | None], lookups: CommitLookups
) -> None:
    heartbeats[:] = [LedgerEntry("run-1", 0, 0, at) for at in range(1_000_000)]
    config = sink_config(topic="orders", **OPTIONS, **{"properties.transaction.timeout.ms": "10"})
    sessions = Sessions()
    sessions.failure = FencedError("taken over")
    with pytest.raises(FencedError, match="taken over"):
        run(sessions, ROWS, config=config, lookups=lookups)
    assert len(heartbeats) > 1


@pytest.mark.parametrize(
    ("lost", "failure", "commits", "warning"),
    [
        (0, None, 1, None),
        (2, None, 3, "lost the ledger of transactional id 'copy-3'"),
        (99, None, 6, "not known (each time, they had lost it)"),
        (0, ClientError("no answer"), 1, "not known (no answer): if the task is repeated now, its rows may be written"),
    ],
)
def test_a_ledger_that_the_brokers_lose_is_committed_again(
    lost: int, failure: Exception | None, commits: int, warning: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    sessions = Sessions()
    sessions.session.reader = LosingReader(sessions.session, lost, failure)
    assert run(sessions, ROWS, config=replace(CONFIG, can_lose_ledgers=True)).rows == 2
    assert sessions.producer.calls == ["open", "produce 2", "commit", *(["begin", "commit"] * (commits - 1))]
    assert warning in caplog.text if warning else not caplog.text
    assert len(sessions.kept) == 1


def test_an_attempt_that_is_fenced_while_it_commits_its_ledger_again_leaves_the_decision_to_the_other_one(
    lookups: CommitLookups,
) -> None:
    sessions = Sessions()
    sessions.session.reader = LosingReader(sessions.session, 0, FencedError("taken over"))
    with pytest.raises(FencedError, match="taken over"):
        run(sessions, ROWS, config=replace(CONFIG, can_lose_ledgers=True), lookups=lookups)
