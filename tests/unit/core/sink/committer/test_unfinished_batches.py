"""Brokers that do not answer a task; `tests/integration/test_unfinished_batches.py` reads ledgers from a broker."""

from __future__ import annotations

import pytest

from millrace.errors import UnreachableError
from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace.options.secrets import Properties
from millrace.sink.committer import unfinished_batches
from millrace.sink.committer.unfinished_batches import unfinished_batch
from millrace.sink.write_task import WriteTask
from millrace.worker import WorkerResources
from support.records import sink_config

CONFIG = sink_config(
    topic="orders", **{"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "copy"}
)


def test_a_task_waits_a_minute_for_brokers_that_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise its four attempts would end within half a minute, and the query with them
    timeouts: list[float | None] = []

    class SilentAdmin:
        def __init__(self, client: Properties, connect_timeout_s: float | None = None) -> None:
            timeouts.append(connect_timeout_s)

        def groups(self) -> dict[str, bool]:
            raise UnreachableError("no broker answered")

    monkeypatch.setattr(unfinished_batches, "WriteAdmin", SilentAdmin)
    task = WriteTask(0, 0, "me", 0, is_streaming=True, run="second")
    with pytest.raises(UnreachableError):
        unfinished_batch(CONFIG, task, resources=WorkerResources())
    assert timeouts == [RETRY_TIMEOUT_S]
