"""The client settings of heartbeats; `tests/integration/test_exactly_once.py` sends them to a broker."""

from __future__ import annotations

import queue
from typing import Any

import pytest

from millrace.configuration import SinkConfig
from millrace.errors import ClientError
from millrace.sink.committer import heartbeats as module
from millrace.sink.committer.heartbeats import heartbeats
from millrace.sink.write_task import WriteTask
from support.records import sink_config
from support.waiting import PATIENCE_S

OPTIONS = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "copy"}
TASK = WriteTask(3, 0, "run-1")


@pytest.mark.parametrize(
    ("given", "pause_ms"),
    [({}, "400"), ({"properties.reconnect.backoff.ms": "1000"}, "1000")],
    ids=["default", "the user's"],
)
def test_heartbeats_connect_again_slowly(given: dict[str, str], pause_ms: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clients: queue.Queue[Any] = queue.Queue()

    def read_ledger(config: SinkConfig, *_: object, **__: object) -> None:
        clients.put(config.client)
        raise ClientError("no broker can be reached")

    monkeypatch.setattr(module, "read_ledger", read_ledger)
    secret = {"properties.sasl.password": "hidden"}
    with heartbeats(sink_config(topic="orders", **OPTIONS, **given, **secret), TASK, 0.0):
        client = clients.get(timeout=PATIENCE_S)
    assert client["reconnect.backoff.ms"] == pause_ms
    assert "hidden" not in repr(client)
