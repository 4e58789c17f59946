"""Lets Kafka know a query that has written nothing yet, so that its first rows are no doubt."""

from __future__ import annotations

import time

from millrace.configuration import SinkConfig
from millrace.contracts import TopicPartition
from millrace.kafka.admin import PATIENCE_S, KafkaAdmin
from millrace.options.secrets import Properties
from millrace.sink.committer.exactly_once import KNOWN_FOR_S, ledger_topic
from millrace.sink.committer.ledger import Entry, Ledger

_known_until: dict[tuple[str, str], float] = {}


def make_known(config: SinkConfig, query: str, run: str, batch: int) -> None:
    """Note in the prefix's own group that a query has ended a micro-batch without rows.

    Tasks do so with their first rows, see `exactly_once`; without any the next micro-batch would look like that of a
    query which Kafka has forgotten. Done once for each run, and again every hour.

    Args:
        config: How it is written.
        query: The streaming query.
        run: Its run.
        batch: The micro-batch.

    Raises:
        ClientError: The brokers refuse, or do not answer.
    """
    if time.monotonic() < _known_until.get((query, run), 0.0):
        return
    group = config.options.transactional_id_prefix or ""
    # A fresh broker takes a while for its first group
    cluster = KafkaAdmin(Properties({**config.client, "group.id": group}), PATIENCE_S)
    ledger = Ledger((Entry(query, batch, 0, int(time.time())),))
    offsets = {TopicPartition(ledger_topic(config), 0): batch + 1}
    cluster.ask(lambda _: cluster.commit(offsets, ledger.to_text()), f"noting micro-batch {batch}")
    _known_until[query, run] = time.monotonic() + KNOWN_FOR_S
