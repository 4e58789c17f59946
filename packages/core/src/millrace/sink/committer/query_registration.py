"""Register queries in the consumer group of their prefix.

A task without a ledger of its own is new, or brokers have forgotten its ledger. Which of the two it is shows in the
prefix's group: a query that is registered there has written with other tasks, so that nothing was forgotten.
"""

from __future__ import annotations

import time

from confluent_kafka import TopicPartition as ClientPartition

from millrace.configuration import SinkConfig
from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.offset_metadata import consumer_group_metadata
from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace.options.secrets import Properties
from millrace.sink.committer.ledger import Ledger, LedgerEntry
from millrace.sink.committer.ledger_store import ledger_offset, ledger_topic, read_ledger, registration_group

REGISTRATION_INTERVAL_S = 3600.0
"""How often a query registers again, since brokers forget groups that nobody commits to."""

_registered_until: dict[tuple[str, str], float] = {}


def is_registered(config: SinkConfig, query: str) -> bool:
    """Whether a query is registered with its prefix.

    Raises:
        LedgerError: The prefix's consumer group holds something else.
        ClientError: The brokers refuse, or do not answer.
    """
    # Transactions of other tasks may be under way, which need not be waited for
    ledger, _ = read_ledger(config, registration_group(config), is_final=False)
    return ledger is not None and ledger.entry(query) is not None


def registration(config: SinkConfig, entry: LedgerEntry) -> dict[bytes, ClientPartition]:
    """The offset that registers a query in a transaction of one of its tasks, by the metadata of the prefix's group."""
    group = consumer_group_metadata(config.client, registration_group(config))
    return {group: ledger_offset(config, Ledger((entry,)), entry.batch + 1)}


def register_query(config: SinkConfig, query: str, run: str, batch: int) -> None:
    """Register a query that has ended a micro-batch without rows; on the driver.

    Tasks register their query with their first rows. Without any rows, the query's next micro-batch would look like
    that of one which the brokers have forgotten. Done once for each run, and again every hour.

    Args:
        config: How to write.
        query: The streaming query.
        run: Its run.
        batch: The micro-batch.

    Raises:
        ClientError: The brokers refuse, or do not answer.
    """
    if time.monotonic() < _registered_until.get((query, run), 0.0):
        return
    # A fresh broker takes a while for its first group
    admin = KafkaAdmin(Properties({**config.client, "group.id": registration_group(config)}), RETRY_TIMEOUT_S)
    ledger = Ledger((LedgerEntry(query, batch, 0, int(time.time())),))
    offsets = {TopicPartition(ledger_topic(config), 0): batch + 1}
    admin.call(lambda _: admin.commit(offsets, ledger.to_text()), f"registering micro-batch {batch}")
    _registered_until[query, run] = time.monotonic() + REGISTRATION_INTERVAL_S
