"""Asks brokers for transactions, by kafka-python: librdkafka has no such request."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from millrace.errors import ClientError, MachineError
from millrace.kafka.client_settings import client_settings
from millrace.options.secrets import Properties
from millrace_cli.transactions.login import login

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

_PATIENCE_S = 30.0
_PAUSE_S = 0.2
_CONNECT_MS = 10_000
"""Brokers that are reached at all have answered another client just before."""


class Described(NamedTuple):
    """A transaction as the coordinator of its id has it.

    Attributes:
        transactional_id: The id.
        state: Kafka's name of its state.
        began_ms: When it began, in ms since 1970 UTC.
        partitions: Topics and partitions that it has written to.
    """

    transactional_id: str
    state: str
    began_ms: int
    partitions: Collection[tuple[str, int]]


class TransactionsAdmin:
    """Lists transactions.

    Args:
        client: Properties for the Kafka client.

    Raises:
        MachineError: A library is not installed.
        OptionsError: A file is missing or unreadable.
    """

    def __init__(self, client: Properties) -> None:
        self._servers = client["bootstrap.servers"]
        self._make = _admin_class()
        settings = client_settings(client)
        self._settings: dict[str, Any] = {
            "bootstrap_servers": [server.strip() for server in self._servers.split(",")],
            "bootstrap_timeout_ms": _CONNECT_MS,
            "request_timeout_ms": _CONNECT_MS,
            "client_id": settings["client.id"],
            **login(settings),
        }

    def described(self, states: Collection[str], is_wanted: Callable[[str], bool]) -> list[Described]:
        """The transactions that are in one of some states.

        Args:
            states: Kafka's names of them.
            is_wanted: Whether a transactional id is to be in the answer.

        Raises:
            ClientError: The brokers refuse, or do not answer.
        """
        from kafka.errors import KafkaError

        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                return self._look(states, is_wanted)
            except KafkaError as error:
                if time.monotonic() > deadline or not _may_pass(error):
                    raise ClientError(self._failure(error)) from error
                time.sleep(_PAUSE_S)

    def _look(self, states: Collection[str], is_wanted: Callable[[str], bool]) -> list[Described]:
        # A new client each time: one that lives on would ask the coordinators that it knows from before
        with self._make(**self._settings) as admin:
            listed = admin.list_transactions(state_filters=states)
            names = {each.transactional_id for of_broker in listed.values() for each in of_broker}
            found = admin.describe_transactions(sorted(filter(is_wanted, names)))
        return [
            Described(name, at.state.value, at.transaction_start_time_ms, at.topic_partitions)
            for name, at in found.items()
            # It may have ended since it was listed
            if at.state.value in states
        ]

    def _failure(self, error: Exception) -> str:
        from kafka.errors import AuthorizationError, UnsupportedVersionError

        advice = ""
        if isinstance(error, AuthorizationError):
            advice = ". This user needs the permission to describe transactional ids"
        if isinstance(error, UnsupportedVersionError):
            advice = ". Brokers list transactions from Apache Kafka 3.0 on"
        return f"listing transactions at {self._servers} failed: {error}{advice}"


def _admin_class() -> type[KafkaAdminClient]:
    try:
        # The second name is not in versions that cannot list transactions
        from kafka.admin import KafkaAdminClient, TransactionState  # noqa: F401
    except ImportError as error:
        raise MachineError(
            "transactions are listed by kafka-python 3, which is not installed, or in an older version; run: "
            "pip install 'millrace-cli[transactions]'"
        ) from error
    return KafkaAdminClient


def _may_pass(error: Exception) -> bool:
    """Whether a failure is one of coordinators that are starting, stopping or handing over their ids."""
    from kafka.errors import KafkaError, TransactionalIdNotFoundError, UnknownBrokerIdError

    moves = isinstance(error, (TransactionalIdNotFoundError, UnknownBrokerIdError))
    return moves or (isinstance(error, KafkaError) and error.retriable)
