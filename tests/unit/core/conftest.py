from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Message

from millrace.contracts import TopicPartition
from millrace.records.messages import Messages


@pytest.fixture
def messages() -> Callable[..., Messages]:
    """Make messages of partition 3 of topic orders, offsets from 100, each of these properties."""

    def make(*properties: dict[str, Any]) -> Messages:
        items = [
            Message(**{"topic": "orders", "partition": 3, "offset": 100 + index, "timestamp": (1, 1_000), **each})
            for index, each in enumerate(properties)
        ]
        return Messages(TopicPartition("orders", 3), items)

    return make
