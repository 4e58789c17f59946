"""Fit batches into topics that take small ones only; librdkafka divides no batch that a broker has refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource

from millrace.kafka.retry import REQUEST_TIMEOUT_S
from millrace.options.secrets import Properties

MAX_MESSAGE_BYTES = "max.message.bytes"
"""The topic's setting: the most bytes of a batch, compressed."""

BATCH_SIZE = "batch.size"
DEFAULT_BATCH_SIZE = 1_000_000

_RESERVE_SHARE, _RESERVE_BYTES = 100, 256
"""The part of a batch, and the bytes beside, that are left free: records that do not compress grow a little."""

_OF_CALLBACKS = frozenset({"error_cb", "logger", "on_delivery", "stats_cb"})


def with_fitting_batches(client: Properties, topics: Mapping[str, Mapping[str, str]]) -> Properties:
    """Return a producer's properties with batches that each of some topics takes; the user's may be too large.

    Args:
        client: The properties.
        topics: The topics' settings by their names, as far as they are known.
    """
    limits = [int(settings[MAX_MESSAGE_BYTES]) for settings in topics.values() if MAX_MESSAGE_BYTES in settings]
    batch_size = client.get(BATCH_SIZE, str(DEFAULT_BATCH_SIZE)).strip()
    if not limits or not batch_size.isdecimal():
        # The client says what is wrong with the user's size
        return client
    fitting = max(1, min(limits) - min(limits) // _RESERVE_SHARE - _RESERVE_BYTES)
    return client if int(batch_size) <= fitting else Properties({**client, BATCH_SIZE: str(fitting)})


def max_message_bytes(settings: Mapping[str, Any], topic: str) -> int | None:
    """Look up a topic's limit, to explain that it was exceeded; None where brokers do not tell.

    Args:
        settings: The settings of the producer that has exceeded it.
        topic: The topic.
    """
    own = {name: value for name, value in settings.items() if name not in {*_OF_CALLBACKS, "transactional.id"}}
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    # Its requests end with it
    admin = AdminClient(own)
    try:
        entries = admin.describe_configs([resource], request_timeout=REQUEST_TIMEOUT_S)[resource].result()
    except KafkaException:
        return None
    return int(entries[MAX_MESSAGE_BYTES].value) if MAX_MESSAGE_BYTES in entries else None
