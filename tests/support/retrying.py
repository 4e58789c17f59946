"""Requests and records of plain clients, repeated as long as Kafka says that they may succeed later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import KafkaException, Producer

from millrace.kafka.errors import UNKNOWN_TOPIC_CODES, is_transient_exception, kafka_error
from millrace.kafka.retry import call_with_retries
from support.waiting import PATIENCE_S

T = TypeVar("T")


def retried(request: Callable[[], T]) -> T:
    """Return the result of a request, such as a look-up, a commit or the end of a transaction.

    It is repeated while a broker starts, a leader or coordinator moves or loads its state, or a broker does not know
    a topic yet. So name topics that exist.

    Raises:
        KafkaException: The request was refused, or does not succeed in time.
    """
    return call_with_retries(request, _may_succeed_later, PATIENCE_S)


def retried_all(request: Callable[[], Mapping[Any, Future[T]]]) -> list[T]:
    """Return the results of a request of an admin client, which answers with a future for each topic, group or ACL."""
    return retried(lambda: [future.result(PATIENCE_S) for future in request().values()])


def send(producer: Producer, topic: str, *args: Any, **kwargs: Any) -> None:
    """Call `Producer.produce`, once the producer's queue, of 100,000 records by default, has room.

    A queue fills wherever a broker is slower than the test.
    """
    while True:
        try:
            producer.produce(topic, *args, **kwargs)
            break
        except BufferError:
            producer.poll(0.05)
    producer.poll(0)


def flush(producer: Producer) -> None:
    """Send all that a producer holds; it repeats its requests by itself."""
    assert producer.flush(PATIENCE_S) == 0, "records that were not sent"


def _may_succeed_later(error: BaseException) -> bool:
    is_unknown = isinstance(error, KafkaException) and kafka_error(error).code() in UNKNOWN_TOPIC_CODES
    return is_unknown or is_transient_exception(error)
