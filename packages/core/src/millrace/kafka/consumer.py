"""The consumer that a worker process keeps from task to task."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from confluent_kafka import Consumer

from millrace.kafka.errors import configuration_errors
from millrace.kafka.watch import Watch
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


@dataclass(eq=False)
class WatchedConsumer:
    """A consumer and what it said in the background.

    Attributes:
        consumer: The client.
        watch: What it said.
        user: Who assigned it last; one that was there before must leave it alone.
    """

    consumer: Consumer
    watch: Watch
    user: object = None


@functools.lru_cache(maxsize=4)
def consumer_for(client: Properties) -> WatchedConsumer:
    """This process's consumer for a client configuration; made once, assigned anew by each task.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    watch = Watch()
    with configuration_errors():
        return WatchedConsumer(Consumer({**_DEFAULTS, **client, **_FIXED, **watch.settings()}), watch)
