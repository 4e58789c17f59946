"""The transactions that the tasks of an exactly-once query have open, and their end."""

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

# Each takes about a second, most of which it waits for the brokers
_AT_ONCE = 8


@dataclass(frozen=True)
class OpenTransaction:
    """A transaction that is neither committed nor aborted.

    Attributes:
        transactional_id: The id of its producer, ``<prefix>-<task index>``.
        state: One of `OPEN_STATES`.
        began_ms: When it began by the broker's clock, in ms since 1970 UTC.
        partitions: Those that it has written to; committed records behind its own cannot be read there.
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
        """For how long it has been open; 0 where the broker's clock is ahead, or does not say.

        Args:
            now_s: Seconds since 1970 UTC; by default now.
        """
        now_ms = int((time.time() if now_s is None else now_s) * 1000)
        return max(0, now_ms - self.began_ms) if self.began_ms >= 0 else 0

    def is_same(self, other: OpenTransaction) -> bool:
        """Whether the other is this very transaction, not a later one with the same id."""
        return (self.transactional_id, self.began_ms) == (other.transactional_id, other.began_ms)


def is_of_task(transactional_id: str, prefix: str) -> bool:
    """Whether an id is one that the tasks of a query with this prefix use."""
    return re.fullmatch(re.escape(prefix) + "-[0-9]+", transactional_id) is not None


def open_transactions(client: Properties, prefix: str) -> list[OpenTransaction]:
    """The transactions that tasks of a prefix have open, by task.

    Args:
        client: Properties for the Kafka client.
        prefix: The query's ``sink.transactional-id-prefix``.

    Raises:
        ClientError: The brokers refuse, or do not answer.
        MachineError: The library that lists transactions is not installed.
        OptionsError: The client does not accept its properties.
    """
    # First by the client that all else uses, since it tells what is wrong with a connection
    KafkaAdmin(client).topic_names()
    described = TransactionsAdmin(client).described(OPEN_STATES, lambda name: is_of_task(name, prefix))
    found = (
        OpenTransaction(name, state, began_ms, tuple(sorted(TopicPartition(*each) for each in partitions)))
        for name, state, began_ms, partitions in described
    )
    return sorted(found, key=lambda transaction: transaction.task)


def abort_all(
    client: Properties, transactions: Sequence[OpenTransaction]
) -> Iterator[tuple[OpenTransaction, ClientError | None]]:
    """End transactions by taking over their ids, and give each with why it could not be ended, in order.

    Each ends aborted, but for those in state `PREPARE_COMMIT`, whose commit is brought to its end.

    Args:
        client: Properties for the Kafka client.
        transactions: What to end; an id that no producer has had would be made.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from zip(transactions, pool.map(partial(_abort, client), transactions), strict=True)


def unchanged(before: Iterable[OpenTransaction], now: Iterable[OpenTransaction]) -> list[OpenTransaction]:
    """The transactions of now that were open before; later ones with the same ids are left out."""
    earlier = {each.transactional_id: each for each in before}
    return [each for each in now if each.transactional_id in earlier and each.is_same(earlier[each.transactional_id])]


def _abort(client: Properties, transaction: OpenTransaction) -> ClientError | None:
    try:
        TransactionalProducer(client, transaction.transactional_id).take_over()
    except ClientError as error:
        return error
    return None
