"""Exactly-once writes of a worker whose connection breaks, and whose first copy of a request arrives later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pytest

from millrace.configuration.build import configure_sink
from millrace.errors import FencedError, MessageError
from millrace.kafka.admin import ADMINS
from millrace.sink import pipeline
from millrace.sink.preflight import prepare
from millrace.sink.write_task import WriteResult, WriteTask
from millrace.worker import RESOURCES, WorkerResources
from millrace_broker import KafkaBroker
from millrace_broker.installation import DEFAULT_VERSION
from support.kafka import consume
from support.late_requests import TAKE_OVER, LateRequest, LateRequestProxy, broker_behind_proxy
from support.names import unique_name
from support.waiting import wait_until

SCHEMA = pa.schema([("value", pa.binary())])
ROWS = 50


VERSIONS = ("3.5.2", "3.9.2", "4.2.0")
"""Before brokers verified transactions, before and after KIP-890."""


@pytest.fixture(
    scope="module", params=[DEFAULT_VERSION, *(pytest.param(each, marks=pytest.mark.nightly) for each in VERSIONS)]
)
def late(request: pytest.FixtureRequest) -> Iterator[tuple[KafkaBroker, LateRequestProxy]]:
    with broker_behind_proxy(version=request.param) as started:
        yield started
    RESOURCES.drop(ADMINS)


@dataclass
class Query:
    """Task of a query that a worker runs again and again."""

    broker: KafkaBroker
    proxy: LateRequestProxy
    topic: str
    resources: WorkerResources

    def write(self, batch: int, rows: Iterator[pa.RecordBatch] | None = None) -> WriteResult:
        """Write the rows of a micro-batch."""
        guarantee = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": self.topic}
        # Records are on their way before the last row
        connection = {"properties.bootstrap.servers": self.proxy.servers, "properties.linger.ms": "0"}
        config = prepare(configure_sink({**connection, **guarantee, "topic": self.topic}))
        task = WriteTask(0, 0, "query", batch, is_streaming=True)
        return pipeline.write(config, SCHEMA, rows or rows_of(batch), task, resources=self.resources)

    def move(self) -> None:
        """Let another worker run the task."""
        self.resources.close()
        self.resources = WorkerResources()

    def written(self) -> Counter[str]:
        """Count how often each row is there, as its micro-batch and number."""
        return Counter(each.value().decode() for each in consume(self.broker.bootstrap_servers, self.topic))


def rows_of(batch: int) -> Iterator[pa.RecordBatch]:
    values = [b"%d:%d" % (batch, number) for number in range(ROWS)]
    yield pa.record_batch([pa.array(values)], schema=SCHEMA)


def expected(*batches: int) -> Counter[str]:
    return Counter(f"{batch}:{number}" for batch in batches for number in range(ROWS))


@pytest.fixture
def query(late: tuple[KafkaBroker, LateRequestProxy]) -> Iterator[Query]:
    broker, proxy = late
    topic = unique_name("late")
    broker.create_topic(topic)
    query = Query(broker, proxy, topic, WorkerResources())
    yield query
    query.resources.close()


def delivered_within(
    query: Query, batch: int, late: LateRequest, failure: Exception | None
) -> Iterator[pa.RecordBatch]:
    """Yield rows, and deliver a late request once the broker has them."""
    produced = query.proxy.counts["Produce"]
    yield from rows_of(batch)
    wait_until(lambda: query.proxy.counts["Produce"] > produced, "records to be sent")
    late.deliver()
    if failure is not None:
        raise failure


def test_a_late_commit_does_not_commit_a_part_of_the_next_micro_batch(query: Query) -> None:
    query.write(0)
    late = query.proxy.take_next("EndTxn")
    assert query.write(1).rows == ROWS
    late.wait()
    with pytest.raises(MessageError):
        query.write(2, delivered_within(query, 2, late, MessageError("a row cannot be read")))
    assert query.write(2).rows == ROWS
    assert query.written() == expected(0, 1, 2)


def test_a_late_abort_does_not_drop_rows_whose_ledger_says_that_they_are_written(query: Query) -> None:
    query.write(0)
    late = query.proxy.take_next("EndTxn")
    # They are there already, so that it only aborts
    assert query.write(0).is_skipped
    late.wait()
    assert query.write(1, delivered_within(query, 1, late, None)).rows == ROWS
    assert query.write(2).rows == ROWS
    assert query.written() == expected(0, 1, 2)


def test_a_late_proof_of_ownership_does_not_take_the_ledger_back(query: Query) -> None:
    query.write(0)
    query.write(1)
    late = query.proxy.take_next("TxnOffsetCommit")
    query.proxy.deliver_before("EndTxn", late)
    assert query.write(2).rows == ROWS
    late.wait(0)
    query.move()
    assert query.write(2).is_skipped
    assert query.written() == expected(0, 1, 2)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["Produce", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit"])
def test_a_connection_that_breaks_within_a_transaction_fails_no_task(query: Query, kind: str) -> None:
    query.write(0)
    late = query.proxy.take_next(kind)
    assert query.write(1).rows == ROWS
    late.wait()
    late.deliver()
    assert query.write(2).rows == ROWS
    query.move()
    assert query.write(2).is_skipped
    assert query.written() == expected(0, 1, 2)


@pytest.mark.nightly
def test_a_task_whose_id_a_late_request_takes_over_fails_and_is_repeated_exactly(query: Query) -> None:
    late = query.proxy.take_next(TAKE_OVER)
    with pytest.raises(FencedError):
        query.write(0, delivered_within(query, 0, late, None))
    assert query.write(0).rows == ROWS
    assert query.written() == expected(0)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0])
def test_a_random_schedule_of_late_requests_fails_no_task_and_repeats_nothing(query: Query, seed: int) -> None:
    query.write(0)
    with query.proxy.take_some(seed, 0.06) as taken:
        for batch in range(1, 81):
            assert query.write(batch).rows == ROWS
    assert len(taken) > 20
    query.move()
    assert query.write(80).is_skipped
    assert query.written() == expected(*range(81))
