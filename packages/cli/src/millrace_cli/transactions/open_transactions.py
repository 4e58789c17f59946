"""Find and end the open transactions of an exactly-once query's tasks."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from millrace.contracts import TopicPartition
from millrace.errors import ClientError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.options.secrets import Properties
from millrace_cli.transactions.admin import TransactionsAdmin

PREPARE_COMMIT = "PrepareCommit"
OPEN_STATES = ("Ongoing", PREPARE_COMMIT, "PrepareAbort")
"""Kafka's names of the states in which a transaction blocks readers of committed records."""

TRANSACTIONS_TOPIC = "__transaction_state"
"""The topic whose partitions' leaders coordinate transactions."""

# Each takes about a second, most of it waiting for the brokers
_MAX_PARALLEL = 8


@dataclass(frozen=True)
class OpenTransaction:
    """A transaction that is neither committed nor aborted.

    Attributes:
        transactional_id: The transactional id of its producer, ``<prefix>-<task index>``.
        state: One of `OPEN_STATES`.
        began_ms: Its start by the broker's clock, in ms since 1970 UTC.
        partitions: The partitions that it has written to; readers of committed records wait there.
    """

    transactional_id: str
    state: str
    began_ms: int
    partitions: tuple[TopicPartition, ...]

    @property
    def task(self) -> int:
        """The index of the task."""
        return int(self.transactional_id.rpartition("-")[2])

    def open_ms(self, now_s: float | None = None) -> int:
        """Return for how long it has been open, in ms; 0 where the broker's clock is ahead or its start is unknown.

        Args:
            now_s: The current time, in seconds since 1970 UTC; by default the system's.
        """
        now_ms = int((time.time() if now_s is None else now_s) * 1000)
        return max(0, now_ms - self.began_ms) if self.began_ms >= 0 else 0

    def is_same(self, other: OpenTransaction) -> bool:
        """Tell whether another is this very transaction, not a later one with the same id."""
        return (self.transactional_id, self.began_ms) == (other.transactional_id, other.began_ms)


def is_task_id(transactional_id: str, prefix: str) -> bool:
    """Tell whether a transactional id belongs to a task of a query with this prefix."""
    return re.fullmatch(re.escape(prefix) + "-[0-9]+", transactional_id) is not None


def open_transactions(client: Properties, prefix: str) -> list[OpenTransaction]:
    """Find the open transactions of a query's tasks, in the order of the tasks.

    Args:
        client: Properties for the Kafka client.
        prefix: The query's ``sink.transactional-id-prefix``.

    Raises:
        ClientError: The brokers refuse, or do not answer.
        UnreachableError: A broker is down, and with it the coordinator of some transactions.
        MachineError: The library that lists transactions is not installed.
        OptionsError: The client does not accept its properties.
    """
    # First with librdkafka, whose errors explain what is wrong with a connection
    admin = KafkaAdmin(client)
    admin.topic_names()
    # Transactions without a coordinator are in no list
    admin.leaders(TRANSACTIONS_TOPIC)
    descriptions = TransactionsAdmin(client).describe(OPEN_STATES, lambda name: is_task_id(name, prefix))
    transactions = (
        OpenTransaction(name, state, began_ms, tuple(sorted(TopicPartition(*each) for each in partitions)))
        for name, state, began_ms, partitions in descriptions
    )
    return sorted(transactions, key=lambda transaction: transaction.task)


def abort_all(
    client: Properties, transactions: Sequence[OpenTransaction]
) -> Iterator[tuple[OpenTransaction, ClientError | None]]:
    """End transactions by taking over their transactional ids.

    They are aborted, except those in state `PREPARE_COMMIT`, whose commit is completed.

    Args:
        client: Properties for the Kafka client.
        transactions: The transactions to end. Brokers create an id that is unknown to them.

    Yields:
        Each transaction, in order, with the error for which it could not be ended.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    with ThreadPoolExecutor(_MAX_PARALLEL) as pool:
        yield from zip(transactions, pool.map(partial(_abort, client), transactions), strict=True)


def unchanged(before: Iterable[OpenTransaction], now: Iterable[OpenTransaction]) -> list[OpenTransaction]:
    """Return the current transactions that were open before; later ones with the same ids are left out."""
    earlier = {each.transactional_id: each for each in before}
    return [each for each in now if each.transactional_id in earlier and each.is_same(earlier[each.transactional_id])]


def _abort(client: Properties, transaction: OpenTransaction) -> ClientError | None:
    try:
        TransactionalProducer(client, transaction.transactional_id).init_transactions()
    except ClientError as error:
        return error
    return None
