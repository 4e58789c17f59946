"""``millrace ui``: the page of a cluster, without a Spark session."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from support.kafka import produce
from support.waiting import PATIENCE_S

COMMAND = [sys.executable, "-m", "millrace_cli", "ui", "--port", "0"]


@pytest.fixture
def page(broker) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running command, and the address that it prints."""
    command = [*COMMAND, "--bootstrap-servers", broker.bootstrap_servers]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            address = re.search(r"http://\S+/", running.stdout.readline())
            assert address is not None
            yield running, address[0]
        finally:
            running.kill()


def _get(url: str) -> Any:
    return json.load(urllib.request.urlopen(url, timeout=PATIENCE_S))


def _bytes_on_disk(broker: Any, topic: str) -> int:
    size = sum(log.stat().st_size for log in broker.data_dir.rglob(f"{topic}-*/*.log"))
    assert size
    return size


def test_it_shows_topics_messages_and_checks_without_java_until_ctrl_c(page, broker, make_topic):
    topic = make_topic(2)
    produce(broker.bootstrap_servers, topic, [{"value": b'{"id": 7, "password": "hush"}'}] * 3)
    running, url = page
    assert _get(f"{url}api/page")["hasSession"] is False
    listed = _get(f"{url}api/topics")
    (shown,) = [shown for shown in listed["topics"] if shown["name"] == topic]
    assert (shown["offsets"], shown["bytes"], listed["bytesUnknown"]) == (3, _bytes_on_disk(broker, topic), None)
    assert _get(f"{url}api/topics/{topic}")["bytes"] == shown["bytes"]
    messages = _get(f"{url}api/topics/{topic}/messages")
    assert len(messages["rows"]) == 3
    assert "hush" not in json.dumps(messages)
    checks = _get(f"{url}api/health")
    assert checks["command"] == f"millrace doctor --bootstrap-servers {broker.bootstrap_servers}"
    assert checks["sentence"] == "0 queries run"
    assert [child.name() for child in psutil.Process(running.pid).children(recursive=True)] == []
    running.send_signal(signal.SIGINT)
    assert running.wait(PATIENCE_S) == 0
