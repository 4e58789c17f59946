from __future__ import annotations

from millrace.plugins import DEAD_LETTER_COLLECTOR, plugin_manager
from millrace_dead_letters.log import LogCollector
from millrace_dead_letters.topic import TopicCollector


def test_the_collectors_are_found_by_their_names() -> None:
    manager = plugin_manager()
    assert manager.load(DEAD_LETTER_COLLECTOR, "logger") is LogCollector
    assert manager.load(DEAD_LETTER_COLLECTOR, "topic") is TopicCollector
