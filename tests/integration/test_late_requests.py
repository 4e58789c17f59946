"""Exactly-once writes of a worker whose connection breaks, and whose first copy of a request arrives later."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from millrace.errors import FencedError, MessageError
from millrace.kafka.admin import ADMINS
from millrace.kafka.offset_metadata import REQUEST_TIMEOUT_S, read_offset_metadata
from millrace.kafka.transactional_producer import STUCK_AFTER_S
from millrace.options.secrets import Properties
from millrace.worker import RESOURCES
from millrace_broker import KafkaBroker
from millrace_broker.installation import DEFAULT_VERSION
from support.late_requests import TAKE_OVER, LateRequest, LateRequestProxy, broker_behind_proxy
from support.names import unique_name
from support.repeated_writes import ROWS, WritingTask, expected, rows_of, written
from support.waiting import sooner_than, wait_until

VERSIONS = ("3.5.2", "3.9.2", "4.3.0")
"""Before brokers verified transactions, before and after KIP-890, and the newest."""


@pytest.fixture(
    scope="module", params=[DEFAULT_VERSION, *(pytest.param(each, marks=pytest.mark.nightly) for each in VERSIONS)]
)
def late(request: pytest.FixtureRequest) -> Iterator[tuple[KafkaBroker, LateRequestProxy]]:
    with broker_behind_proxy(version=request.param) as started:
        yield started
    RESOURCES.drop(ADMINS)


@pytest.fixture
def broker(late: tuple[KafkaBroker, LateRequestProxy]) -> KafkaBroker:
    return late[0]


@pytest.fixture
def proxy(late: tuple[KafkaBroker, LateRequestProxy]) -> LateRequestProxy:
    return late[1]


@pytest.fixture
def task(broker: KafkaBroker, proxy: LateRequestProxy) -> Iterator[WritingTask]:
    topic = unique_name("late")
    broker.create_topic(topic)
    task = WritingTask(proxy.servers, topic)
    yield task
    task.resources.close()


def delivered_within(
    proxy: LateRequestProxy, batch: int, late: LateRequest, failure: Exception | None
) -> Iterator[pa.RecordBatch]:
    """Yield rows, and deliver a late request once the broker has them."""
    produced = proxy.counts["Produce"]
    yield from rows_of(batch)
    wait_until(lambda: proxy.counts["Produce"] > produced, "records to be sent")
    late.deliver()
    if failure is not None:
        raise failure


def test_a_late_commit_does_not_commit_a_part_of_the_next_micro_batch(
    task: WritingTask, broker: KafkaBroker, proxy: LateRequestProxy
) -> None:
    task.write(0)
    late = proxy.take_next("EndTxn")
    assert task.write(1).rows == ROWS
    late.wait()
    with pytest.raises(MessageError):
        task.write(2, delivered_within(proxy, 2, late, MessageError("a row cannot be read")))
    assert task.write(2).rows == ROWS
    assert written(broker, task.topic) == expected([0, 1, 2])


def test_a_late_abort_does_not_drop_rows_whose_ledger_says_that_they_are_written(
    task: WritingTask, broker: KafkaBroker, proxy: LateRequestProxy
) -> None:
    task.write(0)
    late = proxy.take_next("EndTxn")
    # They are there already, so that it only aborts
    assert task.write(0).is_skipped
    late.wait()
    assert task.write(1, delivered_within(proxy, 1, late, None)).rows == ROWS
    assert task.write(2).rows == ROWS
    assert written(broker, task.topic) == expected([0, 1, 2])


def test_a_late_proof_of_ownership_does_not_take_the_ledger_back(
    task: WritingTask, broker: KafkaBroker, proxy: LateRequestProxy
) -> None:
    task.write(0)
    task.write(1)
    late = proxy.take_next("TxnOffsetCommit")
    proxy.deliver_before("EndTxn", late)
    assert task.write(2).rows == ROWS
    late.wait(0)
    task.move()
    assert task.write(2).is_skipped
    assert written(broker, task.topic) == expected([0, 1, 2])


@pytest.mark.nightly
def test_a_late_ledger_does_not_drop_the_one_of_the_next_micro_batch(
    task: WritingTask, broker: KafkaBroker, proxy: LateRequestProxy
) -> None:
    late = proxy.take_next("TxnOffsetCommit")
    assert task.write(0).rows == ROWS
    late.wait(0)
    proxy.deliver_before("EndTxn", late)
    assert task.write(1).rows == ROWS
    task.move()
    assert task.write(1).is_skipped
    assert written(broker, task.topic) == expected([0, 1])


@pytest.mark.nightly
def test_a_late_ledger_does_not_lock_its_consumer_group(
    task: WritingTask, broker: KafkaBroker, proxy: LateRequestProxy
) -> None:
    # A new worker proves nothing, so that this is the ledger itself
    late = proxy.take_next("TxnOffsetCommit")
    assert task.write(0).rows == ROWS
    late.wait(0)
    # The brokers end a transaction after they have answered
    client = Properties({"bootstrap.servers": task.servers})
    assert read_offset_metadata(client, f"{task.topic}.millrace-ledger-0", task.topic)[0]
    late.deliver()
    assert task.write(1).rows == ROWS
    task.move()
    assert task.write(1).is_skipped
    assert written(broker, task.topic) == expected([0, 1])


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["Produce", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit"])
def test_a_connection_that_breaks_within_a_transaction_fails_no_task(
    task: WritingTask, broker: KafkaBroker, proxy: LateRequestProxy, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    task.write(0)
    # What was logged while the new broker loaded its transactions is right
    caplog.clear()
    late = proxy.take_next(kind)
    with sooner_than(REQUEST_TIMEOUT_S + STUCK_AFTER_S, "a request that does not end"):
        assert task.write(1).rows == ROWS
    late.wait()
    assert "coordinat" not in caplog.text
    late.deliver()
    assert task.write(2).rows == ROWS
    task.move()
    assert task.write(2).is_skipped
    assert written(broker, task.topic) == expected([0, 1, 2])


@pytest.mark.nightly
def test_a_task_whose_id_a_late_request_takes_over_fails_and_is_repeated_exactly(
    task: WritingTask, broker: KafkaBroker, proxy: LateRequestProxy
) -> None:
    late = proxy.take_next(TAKE_OVER)
    with pytest.raises(FencedError):
        task.write(0, delivered_within(proxy, 0, late, None))
    assert task.write(0).rows == ROWS
    assert written(broker, task.topic) == expected([0])


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0])
def test_a_random_schedule_of_late_requests_fails_no_task_and_repeats_nothing(
    task: WritingTask, broker: KafkaBroker, proxy: LateRequestProxy, seed: int
) -> None:
    task.write(0)
    with proxy.take_some(seed, 0.1) as taken:
        for batch in range(1, 81):
            assert task.write(batch).rows == ROWS
    assert len(taken) >= 35
    task.move()
    assert task.write(80).is_skipped
    assert written(broker, task.topic) == expected(range(81))
