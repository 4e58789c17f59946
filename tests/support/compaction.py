"""Topics that are compacted while a test waits for it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from support.admin import admin_of
from support.kafka import consume, produce
from support.retrying import retried, retried_all
from support.waiting import wait_until

COMPACTED = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.0",
    "delete.retention.ms": "0",
    # What is written later begins a segment, by its timestamp, and all segments but the last one are compacted
    "segment.ms": "1",
}


def clean_often(servers: str) -> None:
    """Let the brokers look for what can be compacted at each moment."""
    admin = admin_of(servers)
    often = ConfigEntry("log.cleaner.backoff.ms", "50", incremental_operation=AlterConfigOpType.SET)
    brokers = [
        ConfigResource(ResourceType.BROKER, str(node), incremental_configs=[often])
        for node in retried(lambda: admin.list_topics(timeout=10)).brokers
    ]
    retried_all(lambda: admin.incremental_alter_configs(brokers))


class Table:
    """Messages of a table in a compacted topic.

    Args:
        servers: The brokers.
        make_topic: Makes a topic.
        partitions: The number of its partitions.
        config: Further settings of the topic.
    """

    def __init__(self, servers: str, make_topic: Callable[..., str], partitions: int = 1, **config: str) -> None:
        self.servers = servers
        self._partitions = partitions
        self._time = int(time.time() * 1000)
        self.topic = make_topic(partitions, COMPACTED | {name.replace("_", "."): each for name, each in config.items()})
        clean_often(servers)

    def write(self, *rows: tuple[int, str | dict[str, Any] | None]) -> None:
        """Write rows by ids, a text as the column ``name``; None deletes. The key decides the partition."""
        self._produce([_message(*row) for row in rows])

    def compact(self) -> None:
        """Return when the last message of each key is all that the topic has, and the markers written for that.

        Markers are two rows of each partition, with the ids -1, -2 and so on.
        """
        # What is before the last segment can be compacted
        for number in (1, 2):
            ids = [-number - 2 * partition for partition in range(self._partitions)]
            self._produce([_message(id_, "marker") | {"partition": at} for at, id_ in enumerate(ids)])

        def is_compacted() -> bool:
            keys = [message.key() for message in consume(self.servers, self.topic)]
            return len(keys) == len(set(keys))

        wait_until(is_compacted, "the compaction of the topic")

    def _produce(self, messages: list[dict[str, Any]]) -> None:
        self._time += 1_000
        produce(self.servers, self.topic, [message | {"timestamp": self._time} for message in messages])


def _message(key: int, row: str | dict[str, Any] | None) -> dict[str, Any]:
    columns = {"name": row} if isinstance(row, str) else row
    value = None if columns is None else json.dumps({"id": key, **columns}).encode()
    return {"key": json.dumps({"id": key}).encode(), "value": value}
