"""Where malformed messages go that a query skips."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from confluent_kafka import Message

from millrace.configuration import SourceConfig
from millrace.kafka.delivery import Delivery, record_errors
from millrace.kafka.errors import client_errors
from millrace.kafka.producer import poll_all, producer_for
from millrace.kafka.statistics import OFF
from millrace.options.secrets import Properties
from millrace.source.reader.malformed_record import MalformedRecord
from millrace.source.reader.rate_limit import RateLimit

logger = logging.getLogger("millrace.dirty_data")

SHOWN = 10
SHOWN_IN_S = 10.0
"""A worker logs so many messages in so many seconds, and then how many it left out."""

HEADER = "millrace.error."
"""What the names of those headers begin with that tell of the error."""

_rate = RateLimit(SHOWN, SHOWN_IN_S)

Headers = list[tuple[str, bytes | None]]


class Collector(Protocol):
    """Takes the malformed messages of one task."""

    def take(self, bad: Sequence[MalformedRecord]) -> None:
        """Take some messages."""

    def finish(self) -> None:
        """Return when all of them are where they belong."""


def collector_for(config: SourceConfig) -> Collector:
    """The collector that the options ask for, for one task."""
    options = config.options
    if options.dead_letter_topic is not None:
        return DeadLetters(config.client, options.dead_letter_topic)
    return Log(_rate) if options.dirty_collector == "logger" else Nowhere()


class Nowhere:
    """Forgets them."""

    def take(self, bad: Sequence[MalformedRecord]) -> None:
        """Nothing to do."""

    def finish(self) -> None:
        """Nothing to do."""


class Log:
    """Logs them, as warnings, but no flood of them.

    Args:
        rate: How many this worker logs.
    """

    def __init__(self, rate: RateLimit) -> None:
        self._rate = rate
        self._left_out = 0

    def take(self, bad: Sequence[MalformedRecord]) -> None:
        """Log as many as there may be now."""
        for each in bad:
            if self._rate.allows():
                logger.warning("%s. It is skipped", each)
            else:
                self._left_out += 1

    def finish(self) -> None:
        """Tell how many were left out."""
        if self._left_out:
            logger.warning(
                "%d more malformed messages that this task has skipped are left out of this log, which shows %d in "
                "%.0f s",
                self._left_out,
                SHOWN,
                SHOWN_IN_S,
            )


class DeadLetters:
    """Writes them to a topic as they are, with headers that tell place and reason.

    The producer is made for the first of them, and kept by the worker.

    Args:
        client: Properties for the Kafka client that reads.
        topic: The topic.
    """

    def __init__(self, client: Properties, topic: str) -> None:
        self._client = client
        self._topic = topic
        self._delivery_: Delivery | None = None

    def take(self, bad: Sequence[MalformedRecord]) -> None:
        """Hand them to the producer.

        Raises:
            DeliveryError: Earlier ones could not be delivered.
            MessageError: One is larger than the client accepts.
        """
        delivery = self._delivery()
        with client_errors(f"writing to topic {self._topic!r}"), record_errors(self._topic):
            for each in bad:
                message = each.message
                delivery.produce(self._topic, value=message.value(), key=message.key(), headers=headers_of(each))
        delivery.check()

    def finish(self) -> None:
        """Wait until the brokers have acknowledged all of them.

        Raises:
            DeliveryError: Some could not be delivered.
        """
        if self._delivery_ is not None:
            self._delivery_.finish()
        poll_all()

    def _delivery(self) -> Delivery:
        if self._delivery_ is None:
            self._delivery_ = Delivery(
                # Nobody would take its statistics
                producer_for(Properties({**self._client, **OFF}), idempotent=True),
                "malformed messages (option 'dirty-data.collector.topic')",
                "Spark reads its messages again",
            )
        return self._delivery_


def headers_of(bad: MalformedRecord) -> Headers:
    """A message's own headers, and those that tell where it was and what is wrong with it."""
    message = bad.message
    told = {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": _timestamp(message),
        "part": "key" if bad.is_key else "value",
        "format": bad.format,
        "reason": bad.reason,
    }
    further: Headers = [(HEADER + name, str(value).encode()) for name, value in told.items() if value is not None]
    return [*(message.headers() or ()), *further]


def _timestamp(message: Message) -> int | None:
    """In ms since 1970; None without one."""
    millis: int = message.timestamp()[1]
    return millis if millis >= 0 else None
