"""Topics of tests."""

from __future__ import annotations

from typing import Any

import pytest

from millrace_cli.pytest_plugin import new_topic


class CreatingBroker:
    """Remembers the topics that there are."""

    def __init__(self) -> None:
        self.topics: list[str] = []

    def create_topic(self, topic: str, *settings: Any) -> None:
        self.topics.append(topic)


def test_a_topic_is_deleted_when_what_is_to_fill_it_fails() -> None:
    broker: Any = CreatingBroker()

    def fail() -> None:
        with new_topic(broker, "orders", delete=lambda broker, topic: broker.topics.remove(topic)):
            assert broker.topics == ["orders"]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert broker.topics == []
