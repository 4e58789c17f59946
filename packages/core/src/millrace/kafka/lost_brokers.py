"""Notice that a client has forgotten its brokers: it waits for ever, while they answer others.

Brokers that are all fenced for a moment, as after a pause of their controller, list no broker at all. A client that
stays with its brokers (``metadata.recovery.strategy`` = ``none``) then drops the last one, and librdkafka 2.16 connects
to none again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

from confluent_kafka import KafkaException, Producer
from confluent_kafka import TopicPartition as ClientPartition

from millrace.kafka.client_settings import without_producer_properties
from millrace.kafka.consumer import new_consumer
from millrace.kafka.retry import SYSTEM_CLOCK, Clock
from millrace.options.secrets import Properties

ASKED_AFTER_S = 10.0
"""Time without an answer after which another client asks the brokers."""

ASK_INTERVAL_S = 5.0
"""Time between two questions."""

ANSWER_TIMEOUT_S = 3.0
"""Time for which each client waits for an answer."""

_LONGEST_BACKOFF_MS = "10000"
"""librdkafka's default of ``reconnect.backoff.max.ms``."""


def reconnects_within_s(client: Properties) -> float:
    """Return the time within which a client connects to a broker that is there again, in seconds."""
    # librdkafka adds up to a half at random
    return int(client.get("reconnect.backoff.max.ms", _LONGEST_BACKOFF_MS)) * 1.5 / 1000 + ASK_INTERVAL_S


def only_others_are_answered(producer: Producer, client: Properties, topics: Collection[str]) -> bool:
    """Return whether the leader of a topic's first partition answers a new client, while no broker answers a producer.

    Args:
        producer: The producer.
        client: Its properties.
        topics: The topics that it writes to, of which the first is asked for.
    """
    topic = next(iter(topics), None)
    if topic is None:
        return False
    try:
        # One of several brokers answers this, too, where records wait for another one
        producer.list_topics(topic, ANSWER_TIMEOUT_S)
    except KafkaException:
        return _leader_answers(client, topic)
    return False


def _leader_answers(client: Properties, topic: str) -> bool:
    consumer = new_consumer(without_producer_properties(client))
    try:
        consumer.client.get_watermark_offsets(ClientPartition(topic, 0), ANSWER_TIMEOUT_S)
    except KafkaException:
        return False
    finally:
        consumer.close()
    return True


class LostBrokers:
    """Tell whether a client without an answer has lost its brokers, or waits for them as all clients do.

    Args:
        only_others_are_answered: Returns whether the brokers answer another client, and not this one.
        reconnects_within_s: The time within which the client connects to a broker that is there again, in seconds.
        clock: Measures the times.
    """

    def __init__(
        self, only_others_are_answered: Callable[[], bool], reconnects_within_s: float, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._only_others_are_answered = only_others_are_answered
        self._reconnects_within_s = reconnects_within_s
        self._clock = clock
        self._asked_at = -math.inf
        self._others_answered_since: float | None = None

    def are_lost(self, silent_s: float) -> bool:
        """Return whether brokers have answered another client for longer than it takes this one to reconnect.

        Args:
            silent_s: The time since this client's last answer, in seconds.
        """
        now = self._clock.now()
        if silent_s < ASKED_AFTER_S:
            self._others_answered_since = None
            return False
        if now - self._asked_at < ASK_INTERVAL_S:
            return False
        self._asked_at = now
        if not self._only_others_are_answered():
            self._others_answered_since = None
            return False
        if self._others_answered_since is None:
            self._others_answered_since = now
        return now - self._others_answered_since >= self._reconnects_within_s
