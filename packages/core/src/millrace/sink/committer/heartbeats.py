"""Show that an attempt of a task lives, to another attempt whose transactional id it has taken over.

Kafka tells a producer that it was fenced, but neither by whom nor what became of that one. An attempt of a task that is
not done after some seconds therefore commits an offset every few seconds, outside its transaction, to a consumer group
that its task has for that. An attempt that is fenced sees these offsets change as long as its successor lives.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

from millrace.configuration import SinkConfig
from millrace.errors import ClientError
from millrace.kafka.client_settings import SLOW_RECONNECT, with_reconnect_backoffs
from millrace.kafka.offset_metadata import OffsetCommitter
from millrace.options.secrets import Properties
from millrace.sink.committer.ledger import Ledger, LedgerEntry
from millrace.sink.committer.ledger_store import heartbeat_group, ledger_offset, read_ledger
from millrace.sink.write_task import WriteTask

logger = logging.getLogger("millrace.sink")

HEARTBEAT_INTERVAL_S = 3.0
"""Seconds between heartbeats, and before the first one: most tasks are done by then and send none."""


@contextmanager
def heartbeats(config: SinkConfig, task: WriteTask, interval_s: float = HEARTBEAT_INTERVAL_S) -> Iterator[None]:
    """Send heartbeats of a task as long as the block runs, from a thread."""
    done = threading.Event()
    timer = threading.Timer(interval_s, _send_until, (done, config, task, interval_s))
    timer.name = "millrace-heartbeats"
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        done.set()
        timer.cancel()


def last_heartbeat(config: SinkConfig, task: WriteTask) -> LedgerEntry | None:
    """Return the newest heartbeat of any attempt of a task at its micro-batch, None without one.

    Raises:
        LedgerError: The group of the task's heartbeats holds something else.
        ClientError: The brokers refuse, or do not answer.
    """
    ledger, _ = read_ledger(config, heartbeat_group(config, task.index), is_final=False)
    return ledger.entry(task.query) if ledger is not None and ledger.has_written(task.query, task.batch) else None


def _send_until(done: threading.Event, config: SinkConfig, task: WriteTask, interval_s: float) -> None:
    # A client that reads offsets would reconnect every 20 ms, as long as no broker can be reached
    config = replace(config, client=Properties(with_reconnect_backoffs(config.client, SLOW_RECONNECT)))
    try:
        # Refuses a group that holds something else
        last_heartbeat(config, task)
        with closing(OffsetCommitter(config.client, heartbeat_group(config, task.index))) as committer:
            while not done.is_set():
                heartbeat = Ledger((LedgerEntry(task.query, task.batch, 0, int(time.time())),))
                committer.commit(ledger_offset(config, heartbeat, task.batch + 1))
                done.wait(interval_s)
    except ClientError as error:
        # The task goes on: only an attempt that it has fenced needs them
        logger.warning("no heartbeats of task %d: %s", task.index, error)
