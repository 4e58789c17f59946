"""Register queries in the consumer group of their prefix.

A task without a ledger of its own is new, or brokers have forgotten its ledger. Which of the two it is shows in the
prefix's group: the driver registers a query there when it has completed a micro-batch, so that nothing was forgotten.
"""

from __future__ import annotations

import time

from millrace.configuration import SinkConfig
from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace.options.secrets import Properties
from millrace.sink.committer.ledger import Ledger, LedgerEntry
from millrace.sink.committer.ledger_store import ledger_topic, read_ledger, registration_group
from millrace.worker import RESOURCES, ResourceKind

REGISTRATION_INTERVAL_S = 3600.0
"""How often a query registers again, since brokers forget groups that nobody commits to."""

# The time of the next registration of each run, by the monotonic clock
NEXT_REGISTRATIONS = ResourceKind[float]("registration", capacity=256)


def is_registered(config: SinkConfig, query: str) -> bool:
    """Return whether a query is registered with its prefix.

    Raises:
        LedgerError: The prefix's consumer group holds something else.
        ClientError: The brokers refuse, or do not answer.
    """
    # Transactions of other tasks may be under way, which need not be waited for
    ledger, _ = read_ledger(config, registration_group(config), is_final=False)
    return ledger is not None and ledger.entry(query) is not None


def register_query(config: SinkConfig, query: str, run: str, batch: int) -> None:
    """Register a query that has completed a micro-batch; on the driver.

    Tasks do not: the others of a micro-batch in doubt would take it for new. Done once for each run, and again every
    hour.

    Args:
        config: The sink's configuration.
        query: The streaming query.
        run: Its run.
        batch: The micro-batch.

    Raises:
        LedgerError: The prefix's consumer group holds something else.
        ClientError: The brokers refuse, or do not answer.
    """
    if time.monotonic() < RESOURCES.items(NEXT_REGISTRATIONS).get((query, run), 0.0):
        return
    # A fresh broker takes a while for its first group
    admin = KafkaAdmin(Properties({**config.client, "group.id": registration_group(config)}), RETRY_TIMEOUT_S)
    found, _ = read_ledger(config, registration_group(config), is_final=False)
    ledger = (found or Ledger()).with_entry(LedgerEntry(query, batch, 0, int(time.time())))
    offsets = {TopicPartition(ledger_topic(config), 0): batch + 1}
    admin.call(lambda _: admin.commit(offsets, ledger.to_text()), f"registering micro-batch {batch}")
    RESOURCES.put(NEXT_REGISTRATIONS, (query, run), time.monotonic() + REGISTRATION_INTERVAL_S)
