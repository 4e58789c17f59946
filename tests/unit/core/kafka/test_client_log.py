from __future__ import annotations

import subprocess
import sys
import time

from confluent_kafka import KafkaError, Producer

from millrace.kafka.client_log import ClientLog


def test_distinct_errors_are_told_oldest_first() -> None:
    watch = ClientLog()
    report = watch.settings()["error_cb"]
    for text in ("b", "a", "b"):
        report(KafkaError(KafkaError._TRANSPORT, text))
    assert watch.said() == "b; a"


def test_what_was_said_can_be_forgotten() -> None:
    watch = ClientLog()
    watch.settings()["error_cb"](KafkaError(KafkaError._TRANSPORT, "boo"))
    watch.clear()
    assert watch.said() == ""


def test_only_the_newest_errors_are_kept() -> None:
    watch = ClientLog()
    for number in range(100):
        watch.settings()["error_cb"](KafkaError(KafkaError._TRANSPORT, f"<{number}>"))
    assert watch.said().startswith("<92>")
    assert watch.said().endswith("<99>")


def test_a_real_client_reports_here() -> None:
    watch = ClientLog()
    client = Producer({"bootstrap.servers": "127.0.0.1:1", **watch.settings()})
    deadline = time.monotonic() + 10
    while "Connection refused" not in watch.said() and time.monotonic() < deadline:
        client.poll(0.05)
    assert "127.0.0.1:1" in watch.said()
    assert "Connection refused" in watch.said()


def test_a_client_that_cannot_connect_writes_nothing_to_the_terminal() -> None:
    program = (
        "from confluent_kafka import Producer\n"
        "from millrace.kafka.client_log import ClientLog\n"
        "watch = ClientLog()\n"
        "client = Producer({'bootstrap.servers': '127.0.0.1:1', **watch.settings()})\n"
        "while not watch.said():\n"
        "    client.poll(0.05)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)
    assert (run.stdout, run.stderr) == ("", "")
