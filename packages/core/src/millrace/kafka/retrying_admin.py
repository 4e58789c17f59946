"""An admin client that retries requests while brokers start or move, and explains why they fail."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from millrace.errors import ClientError, UnreachableError
from millrace.kafka.client_log import SECURITY_ERROR_GRACE_S, ClientLog
from millrace.kafka.client_settings import client_settings
from millrace.kafka.error_hints import advertised_addresses
from millrace.kafka.errors import UNKNOWN_TOPIC_CODES, client_errors, configuration_errors, is_transient, kafka_error
from millrace.kafka.outages import Outage
from millrace.kafka.retry import (
    REQUEST_TIMEOUT_S,
    RETRY_INTERVAL_S,
    RETRY_TIMEOUT_S,
    SYSTEM_CLOCK,
    Clock,
    call_with_retries,
)
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.options.secrets import Properties

UNKNOWN_TOPIC_TIMEOUT_S = 10.0
"""Time for which to retry a request for a topic that seems not to exist: a broker that has just started may not know
its topics yet."""

FIRST_ATTEMPT_TIMEOUT_S = 1.0
"""Timeout of the first attempt. A broker that is gone does not answer, and a client that is refused reports so only
after the request has ended."""

CONNECTION_ADVICE = (
    "Check the address and port, that the broker is running, that 'properties.security.protocol' is what its listener "
    "expects, and that the brokers' advertised.listeners can be reached from this machine"
)

_WITHOUT_LEADER_CODES = {
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
}
"""Codes by which brokers that are running say that another one is not."""

_ADVERTISED_ADVICE = (
    "Check that these brokers are running. If the addresses are wrong, let the administrator set "
    "'advertised.listeners' of the brokers to addresses that the driver and all executors can reach"
)

T = TypeVar("T")


class RetryingAdmin:
    """An admin client with retries.

    Args:
        client: Properties for the Kafka client.
        connect_timeout_s: How long to retry the first request while no broker answers; later ones are retried for a
            minute, since brokers that have answered before are restarting.
        clock: Measures timeouts and waits between attempts.
        create_client: Creates the client from its settings.

    Raises:
        OptionsError: The client does not accept its properties.
    """

    def __init__(
        self,
        client: Properties,
        connect_timeout_s: float | None = None,
        *,
        clock: Clock = SYSTEM_CLOCK,
        create_client: Callable[[dict[str, Any]], AdminClient] = AdminClient,
    ) -> None:
        self._client = client
        self._connect_timeout_s = connect_timeout_s or REQUEST_TIMEOUT_S
        self._clock = clock
        self._servers = client["bootstrap.servers"]
        settings = client_settings(client)
        self._client_log = ClientLog(settings)
        self._has_answered = False
        self._outage = Outage(self._servers, clock)
        with configuration_errors():
            # An admin client warns about this property, which only consumers have
            accepted = {name: value for name, value in settings.items() if name != "isolation.level"}
            # Whoever waits for an answer polls for no statistics, so that they would pile up
            self._admin = create_client({**accepted, **STATISTICS_OFF, **self._client_log.settings()})

    def call(self, request: Callable[[float], T], action: str) -> T:
        """Return the result of a request, retrying it while its failure is transient.

        Args:
            request: The request; takes the timeout of an attempt, in seconds.
            action: Describes the request in error messages, such as ``"looking up topics"``.

        Raises:
            UnreachableError: No broker answered in time.
            UnknownTopicError, ClientError: The brokers refused the request, or this client.
        """
        started = self._clock.now()
        retry_timeout_s = RETRY_TIMEOUT_S if self._has_answered else self._connect_timeout_s
        attempt_timeout_s = FIRST_ATTEMPT_TIMEOUT_S
        if self._has_answered:
            # Lines of the client's log pile up in a client that nobody polls. Those of one that no broker has answered
            # yet say why: a token that it could not get is reported once, right after its creation
            self._admin.poll(0)
            self._client_log.clear()

        def attempt() -> T:
            nonlocal attempt_timeout_s
            remaining_s = started + retry_timeout_s - self._clock.now()
            timeout_s, attempt_timeout_s = attempt_timeout_s, REQUEST_TIMEOUT_S
            try:
                return request(min(timeout_s, max(remaining_s, RETRY_INTERVAL_S)))
            except KafkaException:
                self._admin.poll(0)
                self._raise_security_error(action)
                raise

        def is_retryable(error: BaseException) -> bool:
            return isinstance(error, KafkaException) and self._is_retryable(error, self._clock.now() - started)

        def before_retry() -> None:
            self._report_outage(self._clock.now() - started, retry_timeout_s, action)
            self._refresh_leaders()

        try:
            result = call_with_retries(
                attempt,
                is_retryable,
                # No attempt that would have no time left
                retry_timeout_s - 2 * RETRY_INTERVAL_S,
                clock=self._clock,
                before_retry=before_retry,
            )
        except KafkaException as error:
            if is_transient(kafka_error(error)):
                raise self._unreachable(retry_timeout_s, action, kafka_error(error)) from error
            with client_errors(action):
                raise
        self._has_answered = True
        self._outage.ends()
        return result

    def poll(self) -> None:
        """Serve the callbacks of a client that nobody asks for anything."""
        self._admin.poll(0)

    def _is_retryable(self, error: KafkaException, elapsed_s: float) -> bool:
        is_unknown_topic = kafka_error(error).code() in UNKNOWN_TOPIC_CODES
        if is_unknown_topic and elapsed_s > UNKNOWN_TOPIC_TIMEOUT_S:
            return False
        # A broker that has just started does not know its topics yet
        return is_transient(kafka_error(error)) or (is_unknown_topic and self._has_answered)

    def _raise_security_error(self, action: str) -> None:
        # Brokers that have answered before may be starting, and not know their users yet
        security_error = self._client_log.security_error(SECURITY_ERROR_GRACE_S if self._has_answered else 0)
        if security_error:
            raise ClientError(
                f"connecting to Kafka at {self._servers} (option 'properties.bootstrap.servers') failed when {action}: "
                f"{security_error}"
            )

    def _report_outage(self, silent_s: float, timeout_s: float, action: str) -> None:
        errors = self._client_log.recent_errors()
        # A client that was never answered fails soon; without errors a topic is looked for
        if self._has_answered and errors:
            self._outage.goes_on(silent_s, action, errors, f"up to {timeout_s:.0f} s")

    def _refresh_leaders(self) -> None:
        # The client keeps asking the leaders it knows, with the epochs it knows, until its metadata is refreshed
        with suppress(KafkaException):
            self._admin.list_topics(timeout=FIRST_ATTEMPT_TIMEOUT_S)

    def _unreachable(self, waited_s: float, action: str, error: KafkaError) -> UnreachableError:
        errors = self._client_log.recent_errors()
        causes = "; ".join(filter(None, [error.str(), errors]))
        known = {server.strip() for server in self._servers.split(",")}
        failing = {address: broker for address, broker in advertised_addresses(errors).items() if address not in known}
        if failing:
            return UnreachableError(
                f"{self._servers} (option 'properties.bootstrap.servers') answers, and advertises "
                f"{', '.join(failing)} (advertised.listeners), which did not answer within {waited_s:.0f} s when "
                f"{action}: {causes}. {_ADVERTISED_ADVICE}",
                failing,
            )
        if error.code() in _WITHOUT_LEADER_CODES:
            return UnreachableError(
                f"Kafka at {self._servers} (option 'properties.bootstrap.servers') gave no complete answer within "
                f"{waited_s:.0f} s when {action}: {causes}. Check that all brokers are running"
            )
        return UnreachableError(
            f"no Kafka broker answered within {waited_s:.0f} s at {self._servers} (option "
            f"'properties.bootstrap.servers') when {action}: {causes}. "
            f"{self._client_log.protocol_hint() or CONNECTION_ADVICE}"
        )
