"""List transactions with kafka-python: librdkafka does not support these requests (KIP-664)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from millrace.errors import ClientError, MachineError
from millrace.kafka.client_settings import client_settings
from millrace.kafka.retry import call_with_retries
from millrace.options.secrets import Properties
from millrace_cli.transactions.login import login

T = TypeVar("T")

_RETRY_TIMEOUT_SECONDS = 30.0
_CONNECT_TIMEOUT_MS = 10_000
"""Short, since the brokers have answered another client just before."""


class TransactionDescription(NamedTuple):
    """A transaction as its coordinator describes it.

    Attributes:
        transactional_id: Its transactional id.
        state: Kafka's name of its state.
        began_ms: Its start, in ms since 1970 UTC.
        partitions: Topics and partitions that it has written to.
    """

    transactional_id: str
    state: str
    began_ms: int
    partitions: Collection[tuple[str, int]]


class OpenProducer(NamedTuple):
    """A producer that has an open transaction in a partition.

    Attributes:
        partition: Topic and partition.
        offset: The first offset of its transaction.
        producer_id: Its producer id.
        transactional_id: Its transactional id; empty where brokers do not tell it.
    """

    partition: tuple[str, int]
    offset: int
    producer_id: int
    transactional_id: str


class TransactionsAdmin:
    """A client that lists transactions.

    Args:
        client: Properties for the Kafka client.

    Raises:
        MachineError: A library is not installed.
        OptionsError: A file is missing or unreadable.
    """

    def __init__(self, client: Properties) -> None:
        self._servers = client["bootstrap.servers"]
        self._library = _import_kafka_python()
        settings = client_settings(client)
        self._settings: dict[str, Any] = {
            "bootstrap_servers": [server.strip() for server in self._servers.split(",")],
            "bootstrap_timeout_ms": _CONNECT_TIMEOUT_MS,
            "request_timeout_ms": _CONNECT_TIMEOUT_MS,
            "client_id": settings["client.id"],
            **login(settings),
        }

    def describe(self, states: Collection[str], is_wanted: Callable[[str], bool]) -> list[TransactionDescription]:
        """Describe the transactions that are in one of some states.

        Args:
            states: Kafka's names of the states.
            is_wanted: Selects transactional ids.

        Raises:
            ClientError: The brokers refuse, or do not answer.
        """
        return self._call(lambda: self._describe_once(states, is_wanted))

    def open_producers(self, partitions: Collection[tuple[str, int]]) -> list[OpenProducer]:
        """Return the producers that have open transactions in some partitions.

        Raises:
            ClientError: The brokers refuse, or do not answer.
        """
        return self._call(lambda: self._open_producers_once(partitions))

    def _call(self, request: Callable[[], T]) -> T:
        try:
            return call_with_retries(
                request,
                lambda error: isinstance(error, self._library.KafkaError) and self._is_transient(error),
                _RETRY_TIMEOUT_SECONDS,
            )
        except self._library.KafkaError as error:
            raise ClientError(self._failure_message(error)) from error

    def _open_producers_once(self, partitions: Collection[tuple[str, int]]) -> list[OpenProducer]:
        with self._library.KafkaAdminClient(**self._settings) as admin:
            states = admin.describe_producers([self._library.TopicPartition(*each) for each in partitions])
            listings = (each for of_broker in admin.list_transactions().values() for each in of_broker)
            ids = {listing.producer_id: listing.transactional_id for listing in listings}
        return [
            OpenProducer(
                (partition.topic, partition.partition),
                producer.current_transaction_start_offset,
                producer.producer_id,
                ids.get(producer.producer_id, ""),
            )
            for partition, state in states.items()
            for producer in state.active_producers
            if producer.current_transaction_start_offset >= 0
        ]

    def _describe_once(self, states: Collection[str], is_wanted: Callable[[str], bool]) -> list[TransactionDescription]:
        # A new client each time: an existing one would ask the coordinators that it knows already
        with self._library.KafkaAdminClient(**self._settings) as admin:
            listings = admin.list_transactions(state_filters=states)
            ids = {listing.transactional_id for of_broker in listings.values() for listing in of_broker}
            descriptions = admin.describe_transactions(sorted(filter(is_wanted, ids)))
        return [
            TransactionDescription(
                name, description.state.value, description.transaction_start_time_ms, description.topic_partitions
            )
            for name, description in descriptions.items()
            # It may have ended since it was listed
            if description.state.value in states
        ]

    def _is_transient(self, error: Any) -> bool:
        # Coordinators that are starting, stopping or handing over their transactional ids
        moving = (self._library.TransactionalIdNotFoundError, self._library.UnknownBrokerIdError)
        return isinstance(error, moving) or error.retriable

    def _failure_message(self, error: Exception) -> str:
        hint = ""
        if isinstance(error, self._library.AuthorizationError):
            hint = ". This user needs the permission to describe transactional ids"
        if isinstance(error, self._library.UnsupportedVersionError):
            hint = ". Brokers support listing transactions since Apache Kafka 3.0"
        return f"listing transactions at {self._servers} failed: {error}{hint}"


def _import_kafka_python() -> ModuleType:
    try:
        return importlib.import_module("millrace_cli.transactions.kafka_python")
    except ImportError as error:
        raise MachineError(
            "listing transactions needs kafka-python 3, which is not installed, or only in an older version; run: "
            "pip install 'millrace-cli[transactions]'"
        ) from error
