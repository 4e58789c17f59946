"""A producer that writes in transactions, see KIP-98."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka import TopicPartition as ClientPartition

from millrace.errors import ClientError, FencedError
from millrace.kafka.errors import client_errors, kafka_error
from millrace.kafka.lost_brokers import LostBrokers, only_others_are_answered, reconnects_within_s
from millrace.kafka.offset_metadata import FAST_RETRY, REQUEST_TIMEOUT_S, retry_transaction_request
from millrace.kafka.producer import KafkaProducer, producer_settings
from millrace.kafka.retry import SYSTEM_CLOCK, Clock, call_with_timeout
from millrace.options.secrets import Properties

ABORT_TIMEOUT_S = 10.0
"""Timeout of an abort; after that, the next producer with the same id aborts the transaction."""

STUCK_AFTER_S = 5.0
"""Time beyond a request's own timeout after which its producer is given up."""

SLOW_COMMIT_S = 5.0
"""Time after which a commit was perhaps sent twice without a word about its connection."""

_FIRST_INIT_STEP_S = 0.05
_FIRST_INIT_STEPS = 20
"""While a producer waits for its connection to the coordinator, librdkafka looks for it twice a second, and whenever it
is asked again."""

_LOGS_CONNECTIONS = {"log_level": "6", "log.connection.close": "true"}
"""librdkafka's defaults, without which it does not tell that a connection has ended."""

_KEEPS_BROKERS = {"metadata.recovery.strategy": "none"}
"""Stays with its brokers when the last connection breaks. By default librdkafka 2.16 begins anew with its bootstrap
addresses, and waits for ever for the coordinator of the ledger's group, which it remembers as one of those before. The
next attempt has a new client, and finds brokers that have moved; see `lost_brokers` for one that must not wait."""

_TIMEOUT = "transaction.timeout.ms"
_CLIENT_DEFAULT_TIMEOUT_MS = 60_000

_SENDING_OFFSETS = "adding an offset to a transaction with"

_FENCED_CODES = {
    KafkaError._FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.INVALID_PRODUCER_ID_MAPPING,
    KafkaError.PRODUCER_FENCED,
    # From a partition that has the end of the transaction, and not yet the epoch of the producer that took over
    KafkaError.INVALID_TXN_STATE,
}


class TransactionalProducer(KafkaProducer):
    """A producer with a transactional id. Creating it makes no request.

    Args:
        client: Properties for the Kafka client.
        transactional_id: The transactional id.
        clock: Measures how long transactions and their commits take.

    Raises:
        OptionsError: The client does not accept its properties.
    """

    client: Producer

    def __init__(self, client: Properties, transactional_id: str, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self.transactional_id = transactional_id
        settings = producer_settings(client, idempotent=True, transactional_id=transactional_id)
        super().__init__({**FAST_RETRY, **_KEEPS_BROKERS, **settings, **_LOGS_CONNECTIONS}, clock=clock)
        self._timeout_s = transaction_timeout_s(client)
        self._began: float | None = None
        self._has_aborted = False
        self._commit_s = 0.0
        self._is_stuck = False
        # Without a reference to this producer, see `_FailedDeliveries`
        ask = functools.partial(only_others_are_answered, self.client, client, self._partitions)
        self._lost_brokers = LostBrokers(ask, reconnects_within_s(client), clock)

    @property
    def may_be_kept(self) -> bool:
        """True if no request of its transactions can be on its way any more, as one that was sent again can.

        All transactions of a producer have one epoch (librdkafka lacks the second part of KIP-890): brokers would take
        a late commit or abort for one of the next transaction. They refuse it once another producer has taken over.
        """
        self.poll()
        return not (self._has_aborted or self.client_log.has_lost_connection or self._commit_s > SLOW_COMMIT_S)

    def init_transactions(self) -> None:
        """Fence older producers with the same transactional id, and abort the transactions that they left open.

        Raises:
            ClientError: The brokers refuse, or do not answer.
        """
        with self._errors("taking over"):
            for _ in range(_FIRST_INIT_STEPS):
                try:
                    self.client.init_transactions(_FIRST_INIT_STEP_S)
                except KafkaException as error:
                    if kafka_error(error).code() == KafkaError._TIMED_OUT:
                        continue
                    break
                return
            retry_transaction_request(self.client.init_transactions)

    def check_brokers(self, silent_s: float) -> None:
        """Check that the client still looks for brokers.

        Raises:
            ClientError: It has forgotten them, while they answer another client.
        """
        if self._lost_brokers.are_lost(silent_s):
            self._is_stuck = True
            raise ClientError(
                f"the client of transactional id {self.transactional_id!r} has had no answer for {silent_s:.0f} s, "
                f"while the brokers answer another client: it has forgotten them, since for a moment the cluster "
                f"listed none, as after a pause of its controller. The next attempt of the task connects anew"
            )

    def connect(self, topics: Iterable[str]) -> None:
        """Connect to the brokers and look topics up, so that less is left to do when rows are there.

        Raises:
            UnknownTopicError, ClientError: As `partition_count`.
        """
        for topic in topics:
            self.partition_count(topic)

    def begin_transaction(self) -> None:
        """Begin a transaction."""
        with self._errors("beginning a transaction with"):
            self.client.begin_transaction()
        self._began = self._clock.now()

    def send_offset(self, group_metadata: bytes, offset: ClientPartition) -> None:
        """Commit an offset for a consumer group within the transaction. It is the transaction's first request.

        Args:
            group_metadata: The group's own metadata, see `read_offset_metadata`.
            offset: The offset, see `offset_with_metadata`.

        Raises:
            FencedError: Another producer has taken the transactional id over.
            ClientError: The brokers refuse, or do not answer; this producer can no longer be used.
        """
        with self._errors(_SENDING_OFFSETS):
            self._send_offset(group_metadata, offset, REQUEST_TIMEOUT_S)

    def commit_transaction(self, offsets: Mapping[bytes, ClientPartition]) -> None:
        """Commit the transaction, and with it an offset for each of some consumer groups.

        Args:
            offsets: The offsets by their groups' own metadata, as in `send_offset`.

        Raises:
            FencedError: Another producer has taken the transactional id over.
            ClientError: The brokers refuse, or do not answer; the transaction may be committed all the same.
        """
        began = self._clock.now()
        for group_metadata, offset in offsets.items():
            with self._errors(_SENDING_OFFSETS):
                retry_transaction_request(functools.partial(self._send_offset, group_metadata, offset))
        with self._errors("committing a transaction with"):
            retry_transaction_request(self.client.commit_transaction)
        self._commit_s = self._clock.now() - began

    def abort_transaction(self) -> None:
        """Abort the transaction, so that it blocks no reader.

        Raises:
            FencedError: Another producer has taken the transactional id over, which has aborted the transaction.
            ClientError: It could not be aborted.
        """
        self._has_aborted = True
        if self._is_stuck:
            raise ClientError(f"transactional id {self.transactional_id!r} is in a request that does not end")
        with self._errors("aborting a transaction with"):
            self.client.abort_transaction(ABORT_TIMEOUT_S)

    def _send_offset(self, group_metadata: bytes, offset: ClientPartition, timeout_s: float) -> None:
        # librdkafka waits for ever if the broker that it remembers as the group's coordinator has gone
        try:
            call_with_timeout(
                lambda: self.client.send_offsets_to_transaction([offset], group_metadata, timeout_s),
                timeout_s + STUCK_AFTER_S,
            )
        except TimeoutError as error:
            self._is_stuck = True
            self.poll()
            cause = "The broker that coordinated the ledger's consumer group is gone, and the client found no other"
            if self.client_log.has_lost_connection:
                cause = "A connection to the brokers broke in this transaction"
            raise ClientError(
                f"{_SENDING_OFFSETS} transactional id {self.transactional_id!r} failed: {error}. {cause}; the next "
                f"attempt of the task connects anew"
            ) from error

    @contextmanager
    def _errors(self, action: str) -> Iterator[None]:
        try:
            with client_errors(f"{action} transactional id {self.transactional_id!r}"):
                yield
        except Exception as error:
            cause = error.__cause__
            if isinstance(cause, KafkaException) and kafka_error(cause).code() in _FENCED_CODES:
                raise FencedError(self._fenced_reason()) from cause
            raise

    def _fenced_reason(self) -> str:
        taken_over = (
            f"transactional id {self.transactional_id!r} was taken over by another producer: by a newer attempt of the "
            f"same task, or by another running query with the same 'sink.transactional-id-prefix'"
        )
        open_s = 0.0 if self._began is None else self._clock.now() - self._began
        # The brokers do not tell an owner that took too long from one that was replaced
        if open_s < self._timeout_s:
            return f"{taken_over}. Give each query a prefix of its own"
        return (
            f"the transaction of transactional id {self.transactional_id!r} was open for {open_s:.0f} s, and brokers "
            f"abort it after 'properties.{_TIMEOUT}' = {self._timeout_s * 1000:.0f}. Raise that option, up to the "
            f"brokers' 'transaction.max.timeout.ms', or give each task fewer rows. (If tasks are not that slow, "
            f"{taken_over})"
        )


def transaction_timeout_s(client: Properties) -> float:
    """Return the time after which brokers abort a transaction, in seconds."""
    return int(client.get(_TIMEOUT, _CLIENT_DEFAULT_TIMEOUT_MS)) / 1000
