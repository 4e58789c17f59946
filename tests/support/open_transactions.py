"""Transactions that tests leave open, and the ones that brokers have open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Producer
from kafka.admin import KafkaAdminClient, TransactionState

from support.kafka import transactional_producer
from support.retrying import flush

_OPEN = ("Ongoing", "PrepareCommit", "PrepareAbort")
"""The states in which a transaction blocks readers of committed records."""


@contextmanager
def left_open(servers: str, transactional_id: str, topic: str, *partitions: int) -> Iterator[Producer]:
    """Write a record to each partition in a transaction, which is open within the block."""
    producer = _producer(servers, transactional_id)
    producer.begin_transaction()
    for partition in partitions:
        producer.produce(topic, b"left open", partition=partition)
    flush(producer)
    try:
        yield producer
    finally:
        # Ends the transaction of the producer before it
        _producer(servers, transactional_id)


def open_transactions(servers: str, prefix: str) -> dict[str, int]:
    """Return when the open transactions of a query's tasks began, in ms since 1970 UTC, by transactional id."""
    with KafkaAdminClient(bootstrap_servers=servers.split(",")) as admin:
        ids = _ids(admin, prefix, _OPEN)
        # One may have ended since it was listed
        found = admin.describe_transactions(sorted(ids)).items() if ids else ()
        return {name: each.transaction_start_time_ms for name, each in found if each.state.value in _OPEN}


def transactional_ids(servers: str, prefix: str) -> set[str]:
    """Return the transactional ids of a query's tasks that the brokers know, open or not."""
    with KafkaAdminClient(bootstrap_servers=servers.split(",")) as admin:
        return _ids(admin, prefix, [state.value for state in TransactionState])


def _ids(admin: KafkaAdminClient, prefix: str, states: list[str] | tuple[str, ...]) -> set[str]:
    listings = admin.list_transactions(state_filters=states)
    ids = {listing.transactional_id for of_broker in listings.values() for listing in of_broker}
    return {name for name in ids if name.startswith(f"{prefix}-")}


def _producer(servers: str, transactional_id: str) -> Producer:
    return transactional_producer(servers, transactional_id, **{"transaction.timeout.ms": 600_000})
