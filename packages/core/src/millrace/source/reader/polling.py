"""Poll a consumer for the messages of a split."""

from __future__ import annotations

from confluent_kafka import Message

from millrace.kafka.consumer import KafkaConsumer

MAX_BATCH_MESSAGES = 5_000
"""Messages in a batch: enough to make work per batch cheap, few enough to stay in the processor's cache."""

FEW_MESSAGES = 200
"""Up to as many are asked for, surplus messages of partitions that have finished do not matter for one poll."""

POLL_TIMEOUT_S = 0.02
"""Seconds that one call waits for messages; it returns early when it has all that it asked for."""


class Poller:
    """Poll a consumer.

    Args:
        consumer: The consumer.
        fetches_singly: Whether it fetches again only when it is asked to, so that waiting for many messages is in vain.
    """

    def __init__(self, consumer: KafkaConsumer, *, fetches_singly: bool) -> None:
        self._client = consumer.client
        self._fetches_singly = fetches_singly
        # The last poll returned as many as were asked for
        self._may_have_more = False

    def poll(self, asked: int, remaining: int) -> tuple[list[Message], bool]:
        """Return messages, errors and ends of partitions, and whether nothing more has been fetched by now.

        Args:
            asked: The number of messages to wait for.
            remaining: The number of messages that are missing.
        """
        if self._fetches_singly and remaining > FEW_MESSAGES:
            return self._poll_fetch(asked)
        if self._may_have_more and asked == remaining <= FEW_MESSAGES:
            # Surplus messages may be in front of the missing ones: asking for as many as these would take more polls
            polled = self._client.consume(FEW_MESSAGES, 0)
            self._may_have_more = len(polled) == FEW_MESSAGES
            if polled:
                return polled, not self._may_have_more
        return self._result(self._client.consume(asked, POLL_TIMEOUT_S), asked)

    def rest(self) -> tuple[list[Message], bool]:
        """Return messages that have been fetched, and whether these are all."""
        return self._result(self._client.consume(MAX_BATCH_MESSAGES, 0), MAX_BATCH_MESSAGES)

    def _poll_fetch(self, asked: int) -> tuple[list[Message], bool]:
        polled = self._client.consume(asked, 0) if self._may_have_more else []
        if not polled:
            # With the first message of a fetch come all others of its partition
            polled = self._client.consume(1, POLL_TIMEOUT_S)
            polled += self._client.consume(asked - 1, 0) if polled and asked > 1 else []
        return self._result(polled, asked)

    def _result(self, polled: list[Message], asked: int) -> tuple[list[Message], bool]:
        self._may_have_more = len(polled) == asked
        return polled, not self._may_have_more
