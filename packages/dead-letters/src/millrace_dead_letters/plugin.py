"""The package's hook: names and import strings of its dead letter collectors."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_dead_letter_collectors() -> Mapping[str, str]:
    """Return the names to give as ``dirty-data.collector``."""
    return {
        "logger": "millrace_dead_letters.log:LogCollector",
        "topic": "millrace_dead_letters.topic:TopicCollector",
    }
