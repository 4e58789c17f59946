"""A producer that writes in transactions, and the text that it keeps beside them in a consumer group."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

from millrace.errors import ClientError, FencedError
from millrace.kafka.admin import PATIENCE_S
from millrace.kafka.call_with_timeout import within
from millrace.kafka.client_log import ClientLog
from millrace.kafka.client_settings import client_settings
from millrace.kafka.consumer import group_offsets
from millrace.kafka.errors import client_errors, configuration_errors, is_transient, kafka_error
from millrace.kafka.producer import WatchedProducer, producer_settings
from millrace.options.secrets import Properties

ABORT_S = 10.0
"""How long an abort may take; after that, the next producer with the same id aborts the transaction."""

SPARE_S = 5.0
"""How much longer than its timeout a request may last, before its producer is given up."""

_TELLING = "writing beside a transaction with"
_REQUEST_S = 10.0
_PAUSE_S = 0.1

_FENCED = {
    KafkaError._FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.INVALID_PRODUCER_ID_MAPPING,
    KafkaError.PRODUCER_FENCED,
}

# The default of 100 ms is the larger part of the time that a producer needs for its first transaction
_DEFAULTS = {"retry.backoff.ms": "20", "reconnect.backoff.ms": "20"}

T = TypeVar("T")


class TransactionalProducer(WatchedProducer):
    """A producer for one transactional id. Making it asks nothing of the brokers.

    Args:
        client: Properties for the Kafka client.
        transactional_id: The id.

    Raises:
        OptionsError: The client does not accept its properties.
    """

    def __init__(self, client: Properties, transactional_id: str) -> None:
        self.transactional_id = transactional_id
        settings = producer_settings(client, idempotent=True)
        super().__init__({**_DEFAULTS, **settings, "transactional.id": transactional_id})
        self._is_stuck = False

    def take_over(self) -> None:
        """Fence older producers with the same id, and abort what they left open.

        Raises:
            ClientError: The brokers refuse, or do not answer.
        """
        with self._errors("taking over"):
            _patiently(self.client.init_transactions)

    def begin(self) -> None:
        """Begin a transaction."""
        with self._errors("beginning a transaction with"):
            self.client.begin_transaction()

    def tell(self, group: bytes, told: ClientPartition) -> None:
        """Add a text for a consumer group to the transaction, see `commit`; the first request of a transaction.

        Raises:
            FencedError: Another producer has the id by now.
            ClientError: The brokers refuse, or do not answer; this producer is of no more use.
        """
        with self._errors(_TELLING):
            self._send_offsets(group, told, _REQUEST_S)

    def commit(self, notes: dict[bytes, ClientPartition]) -> None:
        """Commit the transaction, and with it texts for consumer groups.

        Args:
            notes: By the group's metadata, see `read_note`, the offset to commit, with the text as its metadata.

        Raises:
            FencedError: Another producer has the id by now.
            ClientError: The brokers refuse, or do not answer; the transaction may be committed all the same.
        """
        for group, told in notes.items():
            with self._errors(_TELLING):
                _patiently(functools.partial(self._send_offsets, group, told))
        with self._errors("committing a transaction with"):
            _patiently(self.client.commit_transaction)

    def abort(self) -> None:
        """Abort the transaction, so that it blocks no reader.

        Raises:
            FencedError: Another producer has the id by now, which has aborted it.
            ClientError: It could not be aborted.
        """
        if self._is_stuck:
            raise ClientError(f"transactional id {self.transactional_id!r} is in a request that does not end")
        with self._errors("aborting a transaction with"):
            self.client.abort_transaction(ABORT_S)

    def _send_offsets(self, group: bytes, told: ClientPartition, timeout_s: float) -> None:
        # The client waits for ever when the broker that it remembers for the group is gone, whatever its timeout says
        try:
            within(
                timeout_s + SPARE_S,
                functools.partial(self.client.send_offsets_to_transaction, [told], group, timeout_s),
            )
        except TimeoutError as error:
            self._is_stuck = True
            raise ClientError(
                f"{_TELLING} transactional id {self.transactional_id!r} failed: {error}. The broker that kept the "
                f"ledger has gone, and the client does not look for the new one; another attempt does"
            ) from error

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            with client_errors(f"{doing} transactional id {self.transactional_id!r}"):
                yield
        except Exception as error:
            cause = error.__cause__
            if isinstance(cause, KafkaException) and kafka_error(cause).code() in _FENCED:
                raise FencedError(
                    f"transactional id {self.transactional_id!r} was taken over by another producer: by a newer "
                    f"attempt of the same task, or by another running query with the same "
                    f"'sink.transactional-id-prefix'. Give each query a prefix of its own"
                ) from cause
            raise


def read_note(client: Properties, group: str, topic: str, *, is_final: bool = True) -> tuple[str | None, bytes]:
    """The text that was committed for a consumer group beside the offset of a topic's partition 0.

    Args:
        client: Properties for the Kafka client.
        group: The group.
        topic: The topic.
        is_final: Whether to wait for transactions that are about to change it.

    Returns:
        The text, None when there is none; and the group's metadata, to commit another one.

    Raises:
        ClientError: The brokers refuse, or do not answer.
    """
    consumer = _consumer(client, group, "read_committed" if is_final else "read_uncommitted")
    try:
        with client_errors(f"reading the offsets of consumer group {group!r}"):
            (found,) = _patiently(functools.partial(group_offsets, consumer, [ClientPartition(topic, 0)]))
        return (found.metadata or "") if found.offset >= 0 else None, consumer.consumer_group_metadata()
    finally:
        consumer.close()


def group_metadata(client: Properties, group: str) -> bytes:
    """The metadata of a consumer group, to commit a text for it; asks nothing of the brokers."""
    consumer = _consumer(client, group, "read_uncommitted")
    try:
        return consumer.consumer_group_metadata()
    finally:
        consumer.close()


def _consumer(client: Properties, group: str, isolation: str) -> Consumer:
    settings = client_settings(client)
    own: dict[str, Any] = {
        "group.id": group,
        "enable.auto.commit": "false",
        "isolation.level": isolation,
        "socket.nagle.disable": "true",
    }
    with configuration_errors():
        return Consumer({**_DEFAULTS, **settings, **own, **ClientLog(settings).settings()})


def note(topic: str, offset: int, text: str) -> ClientPartition:
    """A text to commit, see `read_note`."""
    return ClientPartition(topic, 0, offset, text)


def _patiently(request: Callable[[float], T]) -> T:
    """The answer to a request, which gets its timeout, tried again as long as its failure may pass."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return request(_REQUEST_S)
        except KafkaException as error:
            cause = kafka_error(error)
            if cause.fatal() or cause.txn_requires_abort() or not is_transient(cause) or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
