"""The consumer that a worker process keeps from task to task."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaException, TopicPartition

from millrace.kafka.client_log import ClientLog
from millrace.kafka.client_settings import client_settings
from millrace.kafka.errors import configuration_errors
from millrace.kafka.statistics import INTERVAL_MS, Statistics
from millrace.options.secrets import Properties

_DEFAULTS = {
    "group.id": "millrace",
    # A reused consumer changes partitions often, and each change waits for the fetch that is under way
    "fetch.wait.max.ms": "10",
    # librdkafka's 1,000 ms starve a reader that empties a small queue faster than it is filled
    "fetch.queue.backoff.ms": "2",
    "queued.max.messages.kbytes": "32768",
    "queued.min.messages": "100000",
    "isolation.level": "read_committed",
    "socket.nagle.disable": "true",
    "statistics.interval.ms": INTERVAL_MS,
}

_FIXED = {
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "enable.partition.eof": "true",
    # An offset that is gone must be noticed, never replaced by another
    "auto.offset.reset": "error",
    # Between two tasks nobody polls, for as long as the query is idle
    "max.poll.interval.ms": "86400000",
}


def group_offsets(consumer: Consumer, partitions: list[TopicPartition], timeout_s: float) -> list[TopicPartition]:
    """What a consumer's group has committed for partitions.

    Raises:
        KafkaException: The brokers refuse or do not answer, be it only for one partition.
    """
    return checked(consumer.committed(partitions, timeout=timeout_s))


def checked(answer: list[TopicPartition]) -> list[TopicPartition]:
    """An answer for partitions, unless it failed, be it only for one of them.

    Raises:
        KafkaException: It failed.
    """
    for at in answer:
        if at.error is not None:
            raise KafkaException(at.error)
    return answer


@dataclass(eq=False)
class WatchedConsumer:
    """A consumer and what it said in the background.

    Attributes:
        consumer: The client.
        watch: What it said.
        statistics: What it says of itself.
        user: Who assigned it last; one that was there before must leave it alone.
    """

    consumer: Consumer
    watch: ClientLog
    statistics: Statistics = field(default_factory=Statistics)
    user: object = None


@functools.lru_cache(maxsize=4)
def consumer_for(client: Properties) -> WatchedConsumer:
    """This process's consumer for a client configuration; made once, assigned anew by each task.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    return new_consumer(client)


def new_consumer(client: Properties) -> WatchedConsumer:
    """A consumer for a client configuration, which its user closes.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    settings = client_settings(client)
    watch, statistics = ClientLog(settings), Statistics()
    with configuration_errors():
        consumer = Consumer({**_DEFAULTS, **settings, **_FIXED, **watch.settings(), **statistics.settings()})
    return WatchedConsumer(consumer, watch, statistics)
