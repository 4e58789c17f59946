"""Reports over real connections."""

from __future__ import annotations

import dataclasses
import logging
import queue
import socket
from collections.abc import Iterator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client

import pytest

from millrace.contracts import TopicPartition
from millrace.monitoring.receiver import Receiver
from millrace.monitoring.report import ReceiverAddress
from millrace.monitoring.sender import CONNECTIONS, UNREACHABLE, send
from millrace.monitoring.split_report import PartitionCounts, SplitReport
from millrace.monitoring.trace_report import TraceReport
from millrace.worker import RESOURCES, WorkerResources
from support.waiting import PATIENCE_S, wait_until

COUNTS = {
    TopicPartition("a", 0): PartitionCounts(10, 100, 2, 5, None, 4),
    TopicPartition("a", 1): PartitionCounts(10, 100, 2, 5, None, 4, restores=1, state_keys=5, state_bytes=4096),
}
REPORT = SplitReport(
    3,
    1,
    COUNTS,
    "reader",
    {"rx": 7},
    traces=TraceReport("run", 3, ("00-a-b-01",), "5@h:1:aa"),
    replayed=(TopicPartition("a", 2),),
)


@pytest.fixture(autouse=True)
def _no_connection_remains() -> Iterator[None]:
    yield
    RESOURCES.drop(CONNECTIONS)
    RESOURCES.drop(UNREACHABLE)


@pytest.fixture
def taken() -> queue.Queue[SplitReport]:
    return queue.Queue()


@pytest.fixture
def receiver(taken: queue.Queue[SplitReport]) -> Iterator[Receiver[SplitReport]]:
    listening = Receiver("127.0.0.1", 0, SplitReport.from_bytes, taken.put)
    yield listening
    listening.close()


def test_a_report_arrives_as_it_was_sent(receiver: Receiver[SplitReport], taken: queue.Queue[SplitReport]) -> None:
    send(receiver.address, REPORT)
    assert taken.get(timeout=PATIENCE_S) == REPORT


def test_who_asks_is_answered(taken: queue.Queue[SplitReport]) -> None:
    def answer(report: SplitReport) -> bytes:
        taken.put(report)
        return b"%d" % report.split

    listening = Receiver("127.0.0.1", 0, SplitReport.from_bytes, answer)
    asking = dataclasses.replace(REPORT, is_answered=True)
    try:
        assert send(listening.address, REPORT) is None
        assert send(listening.address, asking) == b"1"
        assert [taken.get(timeout=PATIENCE_S) for _ in range(2)] == [REPORT, asking]
    finally:
        listening.close()


def test_who_asks_nobody_gets_no_answer() -> None:
    assert send(ReceiverAddress("127.0.0.1", 1, b"other"), dataclasses.replace(REPORT, is_answered=True)) is None


def test_one_connection_carries_all_reports_of_a_process(
    receiver: Receiver[SplitReport], taken: queue.Queue[SplitReport]
) -> None:
    kept = WorkerResources()
    send(receiver.address, REPORT, kept)
    (connection,) = kept.items(CONNECTIONS).values()
    for _ in range(2):
        send(receiver.address, REPORT, kept)
    assert [taken.get(timeout=PATIENCE_S) for _ in range(3)] == [REPORT] * 3
    assert kept.items(CONNECTIONS) == {receiver.address: connection}
    kept.close()


def test_a_connection_that_is_lost_is_made_again(
    receiver: Receiver[SplitReport], taken: queue.Queue[SplitReport]
) -> None:
    send(receiver.address, REPORT)
    RESOURCES.items(CONNECTIONS)[receiver.address].close()
    send(receiver.address, REPORT)
    assert [taken.get(timeout=PATIENCE_S) for _ in range(2)] == [REPORT] * 2


def test_who_does_not_know_the_secret_is_not_heard(
    receiver: Receiver[SplitReport], taken: queue.Queue[SplitReport]
) -> None:
    host, port, _ = receiver.address
    with pytest.raises(AuthenticationError):
        Client((host, port), authkey=b"guessed")
    send(receiver.address, REPORT)
    assert taken.get(timeout=PATIENCE_S) == REPORT


def test_rubbish_is_told_and_does_not_end_anything(
    receiver: Receiver[SplitReport], taken: queue.Queue[SplitReport], caplog: pytest.LogCaptureFixture
) -> None:
    host, port, secret = receiver.address
    with Client((host, port), authkey=secret) as connection:
        connection.send_bytes(b"[1]")
        connection.send_bytes(REPORT.to_bytes())
        assert taken.get(timeout=PATIENCE_S) == REPORT
    assert "ValueError" not in caplog.text
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_who_connects_and_says_nothing_holds_nobody_up(
    receiver: Receiver[SplitReport], taken: queue.Queue[SplitReport]
) -> None:
    with socket.create_connection((receiver.address.host, receiver.address.port)):
        send(receiver.address, REPORT)
        assert taken.get(timeout=PATIENCE_S) == REPORT


def test_a_task_does_not_wait_for_long_for_somebody_who_says_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        send(ReceiverAddress("127.0.0.1", silent.getsockname()[1], b"s"), REPORT, timeout_s=1)
    assert len(caplog.messages) == 1


def test_who_keeps_silent_is_not_asked_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        send(ReceiverAddress("127.0.0.1", silent.getsockname()[1], b"s"), REPORT, timeout_s=1)
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_who_has_closed_takes_nothing_and_lets_nobody_connect(
    receiver: Receiver[SplitReport], taken: queue.Queue[SplitReport], caplog: pytest.LogCaptureFixture
) -> None:
    send(receiver.address, REPORT)
    assert taken.get(timeout=PATIENCE_S) == REPORT
    receiver.close()
    receiver.close()
    send(receiver.address, REPORT)
    assert len(caplog.messages) <= 1
    host, port, _ = receiver.address
    wait_until(lambda: _is_refused(host, port), "the end of listening")
    assert taken.empty()


def _is_refused(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port)).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        # It was still listening when the connection began, and has closed before it accepted it
        return False
    return False


def test_the_secret_is_not_shown() -> None:
    assert "hush" not in repr(ReceiverAddress("h", 1, b"hush"))


def test_a_driver_that_cannot_be_reached_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    nowhere, kept = ReceiverAddress("127.0.0.1", 1, b"s"), WorkerResources()
    with caplog.at_level(logging.WARNING):
        send(nowhere, REPORT, kept)
        send(nowhere, REPORT, kept)
    (message,) = caplog.messages
    assert message.startswith("the driver does not answer at 127.0.0.1:1, so that its metrics lack what is read here")
    assert message.endswith("an address of the driver that this machine can reach by option 'scan.metrics.address'")
