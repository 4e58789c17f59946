"""Sessions of two workers that take a transactional id from each other, on brokers that know epochs only."""

from __future__ import annotations

import weakref
from collections.abc import Iterable

import pytest

from millrace.configuration import SinkConfig
from millrace.configuration.build import configure_sink
from millrace.errors import ClientError, FencedError
from millrace.sink.committer import ledger_store, producer_sessions, spare_producers
from millrace.sink.committer.ledger import Ledger, LedgerEntry
from millrace.sink.committer.producer_sessions import TransactionSession, TransactionSessions
from millrace.sink.write_task import WriteTask
from millrace.worker import WorkerResources
from support.waiting import wait_until

CONFIG: SinkConfig = configure_sink(
    {
        "properties.bootstrap.servers": "nowhere:1",
        "topic": "t",
        "sink.delivery-guarantee": "exactly-once",
        "sink.transactional-id-prefix": "copy",
    }
)
TASK = WriteTask(0, 0, "me", 1, is_streaming=True, run="first")
LEDGER = Ledger((LedgerEntry("me", 0, 1, 0),))


class Brokers:
    """The owner of the only transactional id, and what clients do.

    Attributes:
        owner: The newest producer that has taken the id over.
        made: How many producers were made.
        connected: How many of them connected before they took it over.
        readers: How many readers of the ledger were made.
        closed_readers: How many of them were closed.
        refuse: Whether connecting fails.
        lose_connections: Whether connections break within transactions.
        lose_readers: Whether readers that have read once cannot again.
    """

    def __init__(self) -> None:
        self.owner: object = None
        self.made = self.connected = self.readers = self.closed_readers = 0
        self.refuse = self.lose_readers = self.lose_connections = False


class Producer:
    transactional_id = "copy-0"

    @property
    def may_be_kept(self) -> bool:
        return not self._brokers.lose_connections

    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        brokers.made += 1

    def connect(self, topics: Iterable[str]) -> None:
        assert list(topics) == ["t"]
        if self._brokers.refuse:
            raise ClientError("nobody there")
        self._brokers.connected += 1

    def init_transactions(self) -> None:
        self._brokers.owner = self

    def begin_transaction(self) -> None: ...

    def send_offset(self, *_: object) -> None:
        if self._brokers.owner is not self:
            raise FencedError("taken over")


class Reader:
    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        brokers.readers += 1

    def read(self, _: str, once_within_s: float | None = None) -> tuple[str, bytes]:
        if once_within_s is not None and self._brokers.lose_readers:
            raise ClientError("gone")
        return LEDGER.to_text(), b"copy.millrace-ledger-0\0"

    def close(self) -> None:
        self._brokers.closed_readers += 1


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> Brokers:
    brokers = Brokers()
    for module in (producer_sessions, spare_producers):
        monkeypatch.setattr(module, "TransactionalProducer", lambda *_: Producer(brokers))
    monkeypatch.setattr(ledger_store, "OffsetReader", lambda *_: Reader(brokers))
    return brokers


def micro_batch(sessions: TransactionSessions) -> TransactionSession:
    session = sessions.open(CONFIG, TASK)
    assert session.ledger == LEDGER
    sessions.keep(CONFIG, TASK, session)
    return session


def new_worker(resources: WorkerResources | None = None) -> TransactionSessions:
    return TransactionSessions(resources or WorkerResources())


def test_a_worker_alone_keeps_its_producer(brokers: Brokers) -> None:
    worker = new_worker()
    assert [micro_batch(worker).is_new for _ in range(3)] == [True, False, False]
    assert (brokers.made, brokers.readers) == (1, 1)


def test_a_producer_whose_connection_broke_is_not_kept(brokers: Brokers) -> None:
    worker = new_worker()
    micro_batch(worker)
    brokers.lose_connections = True
    assert micro_batch(worker).is_new
    brokers.lose_connections = False
    assert [micro_batch(worker).is_new for _ in range(2)] == [True, False]
    assert brokers.made == 3


def test_workers_in_turn_take_over_with_a_producer_that_is_connected_and_the_same_reader(brokers: Brokers) -> None:
    workers = new_worker(), new_worker()
    for worker in workers * 5:
        session = micro_batch(worker)
        assert brokers.owner is session.producer
    for worker in workers:
        worker.clear()
    # The first two find nothing, the next two that they were replaced; each of the others leaves one for the next
    assert (brokers.made, brokers.connected, brokers.readers) == (4 + 8, 8, 4)


def test_a_spare_producer_takes_nothing_over(brokers: Brokers) -> None:
    one, other = new_worker(), new_worker()
    for worker in (one, other, one):
        micro_batch(worker)
    owner = micro_batch(other).producer
    one.clear()
    assert brokers.owner is owner


def test_a_spare_producer_that_cannot_connect_is_replaced(brokers: Brokers) -> None:
    one, other = new_worker(), new_worker()
    brokers.refuse = True
    for worker in (one, other, one, other, one):
        session = micro_batch(worker)
        assert brokers.owner is session.producer
    assert brokers.connected == 0


def test_a_reader_that_has_lost_its_broker_is_replaced(brokers: Brokers) -> None:
    one, other = new_worker(), new_worker()
    for worker in (one, other, one, other):
        micro_batch(worker)
    made, brokers.lose_readers = brokers.readers, True
    micro_batch(one)
    assert brokers.readers == made + 1


def test_spare_clients_that_no_task_takes_are_closed(brokers: Brokers, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[Producer]] = []
    monkeypatch.setattr(spare_producers, "TransactionalProducer", lambda *_: remembered(Producer(brokers), made))
    kept = spare_producers.SpareClients(CONFIG, Producer(brokers), Reader(brokers), idle_timeout_s=0.01)
    wait_until(lambda: brokers.closed_readers == 1 and made[0]() is None, "both clients to be closed")
    assert kept.take() == (None, None)


def test_a_task_makes_new_clients_where_the_spare_ones_were_closed(brokers: Brokers) -> None:
    resources = WorkerResources()
    one, other = new_worker(resources), new_worker()
    for worker in (one, other, one, other):
        micro_batch(worker)
    (spare,) = resources.items(spare_producers.SPARES).values()
    spare.close()
    made, readers = brokers.made, brokers.readers
    session = one.open(CONFIG, TASK)
    assert brokers.owner is session.producer
    assert (brokers.made, brokers.readers) == (made + 1, readers + 1)


def test_spare_clients_are_closed_when_their_worker_ends(brokers: Brokers) -> None:
    resources = WorkerResources()
    one, other = new_worker(resources), new_worker()
    for worker in (one, other, one):
        micro_batch(worker)
    closed = brokers.closed_readers
    resources.close()
    assert brokers.closed_readers == closed + 1


def remembered(producer: Producer, made: list[weakref.ref[Producer]]) -> Producer:
    made.append(weakref.ref(producer))
    return producer


def test_a_worker_that_was_replaced_keeps_a_producer_again_after_some_tasks(brokers: Brokers) -> None:
    worker = new_worker()
    micro_batch(worker)
    micro_batch(new_worker())
    kept = [worker.has(CONFIG, TASK) for _ in range(16) if micro_batch(worker)]
    assert kept == [False] * 15 + [True]
    assert not micro_batch(worker).is_new


def test_a_worker_that_gives_its_session_up_makes_the_next_one_ahead_of_its_task(brokers: Brokers) -> None:
    worker = new_worker()
    micro_batch(worker)
    worker.give_up(CONFIG, TASK)
    assert not worker.has(CONFIG, TASK)
    assert micro_batch(worker).is_new
    wait_until(lambda: brokers.connected == 1, "the next one to be connected")
    worker.clear()
