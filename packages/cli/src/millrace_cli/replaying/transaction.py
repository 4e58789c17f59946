"""The transactions of a replay, which hold messages and progress alike; see KIP-98."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from confluent_kafka import TopicPartition as ClientPartition

from millrace.errors import ClientError, FencedError, MillraceError
from millrace.kafka.delivery import Delivery, record_errors
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.options.secrets import Properties

MAX_TRANSACTION_S = 10.0
"""Age at which a transaction is committed, however few messages it has."""


@contextmanager
def only_replay(client: Properties, group: str) -> Iterator[TransactionalProducer]:
    """End other replays of a group, and the transactions that they left open; yields the producer of this one.

    Args:
        client: Properties for the Kafka client.
        group: The consumer group that remembers what was replayed, which is the transactional id, too.

    Raises:
        ClientError: Another replay of the group has begun; or the brokers refuse, or do not answer.
    """
    try:
        producer = TransactionalProducer(client, group)
        producer.init_transactions()
        yield producer
    except FencedError:
        raise ClientError(
            f"another replay with group {group!r} has begun, so that this one has ended; what it had not written is "
            f"left to the other"
        ) from None


class ReplayTransaction:
    """The transaction that is open, if one is.

    Args:
        producer: The producer.

    Attributes:
        size: The number of messages in it.
    """

    def __init__(self, producer: TransactionalProducer) -> None:
        self._producer = producer
        self._delivery = Delivery(producer, "messages", "what was not replayed is replayed")
        self._began_at: float | None = None
        self.size = 0

    @property
    def age_s(self) -> float:
        """The time since it began, in seconds; 0 where none is open."""
        return 0.0 if self._began_at is None else monotonic() - self._began_at

    def produce(self, record: dict[str, Any]) -> None:
        """Write a message.

        Args:
            record: The arguments of `confluent_kafka.Producer.produce`.

        Raises:
            MessageError: It is larger than the client accepts.
            DeliveryError, ClientError: The brokers refuse.
        """
        if self._began_at is None:
            self._producer.begin_transaction()
            self._began_at = monotonic()
        with record_errors(record["topic"]):
            self._delivery.produce(**record)
        self.size += 1

    def commit(self, progress: Iterable[ClientPartition], group_metadata: bytes) -> None:
        """Commit what was written, and with it the progress; nothing where none is open.

        Args:
            progress: Offsets of the group, with their metadata.
            group_metadata: The group's own metadata, see `read_group_offsets`.

        Raises:
            FencedError: Another replay has begun.
            ClientError, DeliveryError: The brokers refuse.
        """
        if self._began_at is None:
            return
        self._delivery.flush()
        for offset in progress:
            self._producer.send_offset(group_metadata, offset)
        self._producer.commit_transaction({})
        self._began_at, self.size = None, 0

    def abort(self) -> None:
        """Abort it, so that it blocks no reader."""
        if self._began_at is not None:
            # Otherwise the next replay aborts it, or the brokers after a minute
            with suppress(MillraceError):
                self._producer.abort_transaction()
