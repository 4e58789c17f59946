"""The one place where the Kafka client's exceptions become millrace's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaError, KafkaException

from millrace.errors import ClientError, OptionsError, UnknownTopicError
from millrace.kafka.error_hints import explain_configuration

NO_TOPIC = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}

_MAY_PASS = {
    KafkaError._ALL_BROKERS_DOWN,
    # What looking up the leaders of partitions ends with while there are none
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
    """Whether a failure is one of a broker that is starting, stopping or handing over its partitions."""
    return error.retriable() or error.code() in _MAY_PASS


def kafka_error(error: KafkaException | KafkaError) -> KafkaError:
    """The KafkaError inside an exception."""
    return error.args[0] if isinstance(error, KafkaException) else error


@contextmanager
def client_errors(doing: str) -> Iterator[None]:
    """Translate what the Kafka client raises inside the block.

    Args:
        doing: What was being done, such as ``"reading orders-0"``; named in the message.

    Raises:
        UnknownTopicError, ClientError: As the client's error says.
    """
    try:
        yield
    except KafkaException as error:
        cause = kafka_error(error)
        kind = UnknownTopicError if cause.code() in NO_TOPIC else ClientError
        raise kind(f"{doing} failed: {cause.str()} ({cause.name()})") from error


@contextmanager
def configuration_errors() -> Iterator[None]:
    """Translate what making a client raises: a property that is unknown or has a wrong value.

    Raises:
        OptionsError: As the client's error says, for an option ``properties.*``.
    """
    try:
        yield
    except (KafkaException, TypeError, ValueError) as error:
        text = kafka_error(error).str() if isinstance(error, KafkaException) else str(error)
        raise OptionsError(
            "millrace", (f"the Kafka client refuses an option 'properties.*': {explain_configuration(text)}",)
        ) from error
