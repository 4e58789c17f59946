from __future__ import annotations

import subprocess
import sys

import pytest
from confluent_kafka import KafkaError, Producer

from millrace.kafka.client_log import ClientLog
from support.waiting import wait_until


def test_distinct_errors_are_told_oldest_first() -> None:
    client_log = ClientLog()
    report = client_log.settings()["error_cb"]
    for text in ("b", "a", "b"):
        report(KafkaError(KafkaError._TRANSPORT, text))
    assert client_log.recent_errors() == "b; a"


def test_what_was_said_can_be_forgotten() -> None:
    client_log = ClientLog()
    client_log.settings()["error_cb"](KafkaError(KafkaError._TRANSPORT, "boo"))
    client_log.clear()
    assert client_log.recent_errors() == ""


def test_only_the_newest_errors_are_kept() -> None:
    client_log = ClientLog()
    for number in range(100):
        client_log.settings()["error_cb"](KafkaError(KafkaError._TRANSPORT, f"<{number}>"))
    assert client_log.recent_errors().startswith("<92>")
    assert client_log.recent_errors().endswith("<99>")


def test_a_cause_outlasts_the_errors_that_each_attempt_repeats() -> None:
    client_log = ClientLog()
    for text in ("Connection refused", *["1/1 brokers are down", "0/1 brokers are down"] * 10):
        client_log._on_error(KafkaError(KafkaError._TRANSPORT, text))
    assert client_log.recent_errors() == "Connection refused; 1/1 brokers are down; 0/1 brokers are down"


@pytest.mark.parametrize(
    ("line", "is_lost"),
    [
        ("FAIL [p] [thrd:h:1/1]: h:1/1: Disconnected: receive 0 after POLLIN (after 12ms in state UP)", True),
        ("FAIL [p] [thrd:h:1/1]: h:1/1: Receive failed: reset by peer (after 1ms in state UP, 1 identical)", True),
        ("REQTMOUT [p] [thrd:h:1/1]: h:1/1: Timed out 1 in-flight, 0 retry-queued", True),
        ("FAIL [p] [thrd:h:1/1]: h:1/1: Connect to h:1 failed: Connection refused (after 0ms in state CONNECT)", False),
        ("GETPID [p] [thrd:main]: Failed to acquire transactional PID", False),
    ],
)
def test_a_connection_that_served_requests_is_lost(line: str, is_lost: bool) -> None:
    client_log = ClientLog()
    client_log.log(20, "%s", line)
    client_log.clear()
    assert client_log.has_lost_connection == is_lost


def test_a_broker_that_dies_is_not_taken_for_one_that_expects_another_protocol() -> None:
    closed = "FAIL [p] [thrd:h:1/1]: h:1/1: Disconnected: connection closed by peer (after 5ms in state UP)"
    client_log = ClientLog()
    client_log.log(20, "%s", closed)
    assert "as a listener with SASL does" in (client_log.protocol_hint() or "")
    client_log._on_error(KafkaError(KafkaError._TRANSPORT, "h:1/1: Connect to h:1 failed: Connection refused"))
    assert client_log.protocol_hint() is None


def test_a_real_client_reports_here() -> None:
    client_log = ClientLog()
    client = Producer({"bootstrap.servers": "127.0.0.1:1", **client_log.settings()})

    def is_refused() -> bool:
        client.poll(0)
        return "Connection refused" in client_log.recent_errors()

    wait_until(is_refused, "the client to report")
    assert "127.0.0.1:1" in client_log.recent_errors()


def test_a_client_that_cannot_connect_writes_nothing_to_the_terminal() -> None:
    program = (
        "from confluent_kafka import Producer\n"
        "from millrace.kafka.client_log import ClientLog\n"
        "client_log = ClientLog()\n"
        "client = Producer({'bootstrap.servers': '127.0.0.1:1', **client_log.settings()})\n"
        "while not client_log.recent_errors():\n"
        "    client.poll(0.05)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("", "")
