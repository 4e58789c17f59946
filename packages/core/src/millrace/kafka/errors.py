"""Translate the Kafka client's exceptions into millrace's, in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaError, KafkaException

from millrace.errors import ClientError, OptionsError, UnknownTopicError
from millrace.kafka.error_hints import explain_configuration_error, refused_option

UNKNOWN_TOPIC_CODES = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}

END_OF_LOG_CODES = {KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}
"""Codes by which a consumer learns that a partition has nothing to read at its position."""

NO_GROUP_CODES = {KafkaError.GROUP_AUTHORIZATION_FAILED}
"""Codes that a consumer which is in no group may ignore: librdkafka looks for its group's coordinator all the same."""

_TRANSIENT_CODES = {
    KafkaError._ALL_BROKERS_DOWN,
    # The client gives up its connection to a broker that restarts, also in the middle of a request
    KafkaError._DESTROY_BROKER,
    # The result of looking up the leaders of partitions while there are none
    KafkaError._NOENT,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._TRANSPORT,
    KafkaError._WAIT_COORD,
    KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.KAFKA_STORAGE_ERROR,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NETWORK_EXCEPTION,
    KafkaError.NOT_COORDINATOR,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.UNKNOWN_LEADER_EPOCH,
}


def is_transient(error: KafkaError) -> bool:
    """Return whether an error is that of a broker that is starting, stopping or handing over its partitions."""
    return error.retriable() or error.code() in _TRANSIENT_CODES


def is_transient_exception(error: BaseException) -> bool:
    """Return whether an exception of the Kafka client holds such an error."""
    return isinstance(error, KafkaException) and is_transient(kafka_error(error))


def kafka_error(error: KafkaException | KafkaError) -> KafkaError:
    """Return the KafkaError inside an exception."""
    return error.args[0] if isinstance(error, KafkaException) else error


@contextmanager
def client_errors(action: str) -> Iterator[None]:
    """Translate the Kafka client's exceptions inside the block.

    Args:
        action: The action for the message, such as ``"reading orders-0"``.

    Raises:
        UnknownTopicError: A topic or partition does not exist.
        ClientError: Any other failure.
    """
    try:
        yield
    except KafkaException as error:
        cause = kafka_error(error)
        kind = UnknownTopicError if cause.code() in UNKNOWN_TOPIC_CODES else ClientError
        raise kind(f"{action} failed: {cause.str()} ({cause.name()})") from error


@contextmanager
def configuration_errors() -> Iterator[None]:
    """Translate exceptions of creating a client: a property is unknown or has an invalid value.

    Raises:
        OptionsError: The client does not accept an option ``properties.*``.
    """
    try:
        yield
    except (KafkaException, TypeError, ValueError) as error:
        text = kafka_error(error).str() if isinstance(error, KafkaException) else str(error)
        option = refused_option(text)
        subject = f"option '{option}'" if option else "an option 'properties.*'"
        problem = f"the Kafka client refuses {subject}: {explain_configuration_error(text)}"
        raise OptionsError("millrace", (problem,)) from error
