"""Register queries in the consumer group of their prefix.

A task without a ledger of its own is new, or brokers have forgotten its ledger. Which of the two it is shows in the
prefix's group, where the driver registers a micro-batch of the query when it is complete: whatever tasks have written
of later ones is newer than the registration, and forgotten after it.
"""

from __future__ import annotations

import time

from millrace.configuration import SinkConfig
from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.client_settings import without_producer_properties
from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace.options.secrets import Properties
from millrace.sink.committer.checkpoint_evidence import note_completed_batch
from millrace.sink.committer.completed_batches import CompletedRun, note_completed_run
from millrace.sink.committer.ledger import Ledger, LedgerEntry
from millrace.sink.committer.ledger_store import ledger_topic, read_ledger, registration_group, run_key
from millrace.worker import RESOURCES, ResourceKind

REGISTRATION_INTERVAL_S = 3600.0
"""Seconds between registrations of a running query; brokers expire groups that nobody commits to."""

# The time of the next registration of each run, by the monotonic clock
NEXT_REGISTRATIONS = ResourceKind[float]("registration", capacity=256)


def read_registration(config: SinkConfig, query: str) -> LedgerEntry | None:
    """Return the newest registration of a query, a micro-batch all tasks of which have written; None without one.

    Raises:
        LedgerError: The prefix's consumer group holds something else.
        ClientError: The brokers refuse, or do not answer.
    """
    # Transactions of other tasks may be under way, which need not be waited for
    ledger, _ = read_ledger(config, registration_group(config), is_final=False)
    return ledger.entry(query) if ledger else None


def register_query(config: SinkConfig, query: str, run: str, batch: int) -> None:
    """Register a query that has completed a micro-batch; on the driver.

    Tasks do not: the others of a micro-batch in doubt would take it for new. Done once for each run, and again every
    hour, or four times within the brokers' retention.

    Args:
        config: The sink's configuration.
        query: The streaming query.
        run: Its run.
        batch: The micro-batch.

    Raises:
        LedgerError: The prefix's consumer group holds something else.
        ClientError: The brokers refuse, or do not answer.
    """
    key = run_key(config, query, run)
    if time.monotonic() < RESOURCES.items(NEXT_REGISTRATIONS).get(key, 0.0):
        return
    interval_s = min(REGISTRATION_INTERVAL_S, config.ledger_retention_s / 4)
    # A fresh broker takes a while for its first group
    client = {**without_producer_properties(config.client), "group.id": registration_group(config)}
    admin = KafkaAdmin(Properties(client), RETRY_TIMEOUT_S)
    registered, _ = read_ledger(config, registration_group(config), is_final=False)
    now = time.time()
    ledger = (registered or Ledger()).with_entry(LedgerEntry(query, batch, 0, int(now)))
    offsets = {TopicPartition(ledger_topic(config), 0): batch + 1}
    admin.call(lambda _: admin.commit(offsets, ledger.to_text()), f"registering micro-batch {batch}")
    note_completed_run(config, CompletedRun(run, batch, now))
    note_completed_batch(config, query, batch, now)
    RESOURCES.put(NEXT_REGISTRATIONS, key, time.monotonic() + interval_s)
