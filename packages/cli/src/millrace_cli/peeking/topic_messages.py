"""The messages of a topic: the newest, and those that come after them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from time import monotonic, sleep

from confluent_kafka import OFFSET_BEGINNING, Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.errors import UnreachableError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.consumer import messages_and_ends, new_consumer
from millrace.kafka.errors import client_errors
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.options.secrets import Properties
from millrace.sampling.newest import newest_messages
from millrace.source.enumerator.subscriber import PartitionDiscovery, subscriber_for

POLL_S = 0.5
DISCOVERY_INTERVAL_MS = 5_000
_MAX_MESSAGES_PER_POLL = 500

# Brokers hold a fetch for as long when nothing comes, so that following an idle topic costs nothing
_PATIENT = {"fetch.wait.max.ms": "500", **STATISTICS_OFF}


class TopicMessages:
    """The messages of a topic.

    Args:
        options: The options of a read of it; those of formats do not count.

    Raises:
        OptionsError: An option is wrong.
        UnknownTopicError, ClientError: There is no such topic, or the brokers did not answer.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        config = configure_source(options)
        self._client = config.client
        self._admin = KafkaAdmin(config.client)
        # Partitions are added while somebody follows the topic
        subscriber = subscriber_for(config.options)
        self._discovery = PartitionDiscovery(self._admin, subscriber, DISCOVERY_INTERVAL_MS, allow_missing=True)
        self._discovery.refresh(())
        self._followed_from: dict[TopicPartition, int] = {}

    def newest(self, count: int) -> list[Message]:
        """Read the messages that are newest by their timestamps, of all partitions together; oldest first.

        Raises:
            ClientError: The brokers refused, or did not answer for a minute.
        """
        partitions = self._discovery.partitions().partitions
        ends = self._admin.end(partitions)
        newest = newest_messages(self._client, self._admin, partitions, count)
        # More may have come between the two
        self._followed_from = {
            partition: max([end, *(message.offset() + 1 for message in newest[partition][-1:])])
            for partition, end in ends.items()
        }
        return sorted((message for messages in newest.values() for message in messages), key=_position)[-count:]

    def wait(self, deadline: float) -> None:
        """Wait until there is a message, or until a time of the monotonic clock."""
        while monotonic() < deadline and not self.newest(1):
            sleep(min(POLL_S, max(0.0, deadline - monotonic())))

    def follow(self) -> Iterator[list[Message]]:
        """Yield the messages that come after the newest ones, as they come; none about every half second.

        Partitions that are added meanwhile are read from their beginning.

        Raises:
            ClientError: The brokers refuse.
        """
        # Offsets that were deleted meanwhile are passed over
        consumer = new_consumer(Properties({**self._client, **_PATIENT}), offset_reset="earliest")
        try:
            with client_errors("following the topic"):
                consumer.client.assign([ClientPartition(*place, at) for place, at in self._followed_from.items()])
                while True:
                    if added := self._added():
                        consumer.client.incremental_assign(added)
                    first = consumer.client.poll(POLL_S)
                    more = consumer.client.consume(_MAX_MESSAGES_PER_POLL, 0) if first is not None else []
                    received = [message for message in (first, *more) if message is not None]
                    yield [message for _, message in messages_and_ends(received) if message is not None]
        finally:
            consumer.close()

    def _added(self) -> list[ClientPartition]:
        """Return the partitions that are not followed yet, which are from now on; none while no broker answers."""
        with suppress(UnreachableError):
            partitions = self._discovery.partitions(tuple(self._followed_from)).partitions
            added = dict.fromkeys(
                (partition for partition in partitions if partition not in self._followed_from), OFFSET_BEGINNING
            )
            self._followed_from |= added
            return [ClientPartition(*place, at) for place, at in added.items()]
        return []


def _position(message: Message) -> tuple[int, int, int]:
    return message.timestamp()[1], message.partition(), message.offset()
