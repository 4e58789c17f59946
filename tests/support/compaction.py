"""Topics that are compacted while a test waits for it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from support.kafka import consume, produce
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
    admin = AdminClient({"bootstrap.servers": servers})
    often = ConfigEntry("log.cleaner.backoff.ms", "50", incremental_operation=AlterConfigOpType.SET)
    brokers = [
        ConfigResource(ResourceType.BROKER, str(node), incremental_configs=[often])
        for node in admin.list_topics(timeout=10).brokers
    ]
    for future in admin.incremental_alter_configs(brokers).values():
        future.result(30)


class Table:
    """Messages of a table in one partition of a compacted topic.

    Args:
        servers: The brokers.
        make_topic: Makes a topic.
        config: Further settings of the topic.
    """

    def __init__(self, servers: str, make_topic: Callable[..., str], **config: str) -> None:
        self._servers = servers
        self._time = int(time.time() * 1000)
        self.topic = make_topic(1, COMPACTED | {name.replace("_", "."): value for name, value in config.items()})
        clean_often(servers)

    def write(self, *rows: tuple[int, str | None]) -> None:
        """Write names by ids; None deletes."""
        self._time += 1_000
        produce(self._servers, self.topic, [self._message(*row) for row in rows])

    def compact(self) -> None:
        """Return when the last message of each key is all that the topic has, and the markers written for that."""
        # What is before the last segment can be compacted
        self.write((-1, "marker"))
        self.write((-2, "marker"))

        def is_compacted() -> bool:
            keys = [message.key() for message in consume(self._servers, self.topic)]
            return len(keys) == len(set(keys))

        wait_until(is_compacted, "the compaction of the topic")

    def _message(self, key: int, name: str | None) -> dict[str, Any]:
        value = None if name is None else json.dumps({"id": key, "name": name}).encode()
        return {"key": json.dumps({"id": key}).encode(), "value": value, "timestamp": self._time, "partition": 0}
