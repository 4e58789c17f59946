"""Topics of a Kafka cluster as JSON: all in short, and one with its partitions and groups."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from millrace.errors import MillraceError
from millrace.options.parser import OptionParser
from millrace.options.secrets import Properties, masked_value
from millrace.sampling import TopicDetails, TopicInspector, TopicSummary, retention_of, take_client_properties

MAX_AGE_S = 3.0
"""The seconds for which an answer of the brokers is shown again, so that several open pages cost as much as one."""

# No topic has such a name
_ALL = " all"
_SIZES = " sizes"

T = TypeVar("T")


class Cluster:
    """Topics of a cluster.

    Args:
        properties: Kafka's client properties, under Java's names or librdkafka's.

    Raises:
        OptionsError: One is wrong.
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.properties = Properties({name.removeprefix("properties."): text for name, text in properties.items()})
        parser = OptionParser("page", {f"properties.{name}": text for name, text in self.properties.items()})
        self._lookup = TopicInspector(take_client_properties(parser))
        parser.finish()
        self._answers: dict[str, tuple[float, Any]] = {}
        self._lock = threading.Lock()

    @property
    def servers(self) -> str:
        """The brokers to connect to first."""
        return str(self.properties["bootstrap.servers"])

    def topics(self) -> dict[str, Any]:
        """Return all topics in short, and why their bytes are not known, where they are not.

        Raises:
            ClientError: The brokers refused, or did not answer.
        """
        topics = self._once(_ALL, lambda: [_summary(topic) for topic in self._lookup.summaries()])
        sizes, problem = self._once(_SIZES, self._sizes)
        return {
            "topics": [{**topic, "bytes": sizes.get(topic["name"])} for topic in topics],
            "bytesUnknown": problem,
        }

    def topic(self, name: str) -> dict[str, Any]:
        """Return a topic with its partitions, settings and groups.

        Raises:
            UnknownTopicError, ClientError: There is no such topic, or the brokers did not answer.
        """
        topic = self._once(name, lambda: _details(self._lookup.details(name)))
        sizes, problem = self._once(_SIZES, self._sizes)
        return {**topic, "bytes": sizes.get(name), "bytesUnknown": problem}

    def _sizes(self) -> tuple[dict[str, int], str | None]:
        """Look up the bytes of all topics at once; brokers of clusters that others run often refuse to tell them."""
        try:
            return self._lookup.sizes(), None
        except MillraceError as error:
            return {}, str(error)

    def _once(self, key: str, look_up: Callable[[], T]) -> T:
        with self._lock:
            now = time.monotonic()
            self._answers = {name: one for name, one in self._answers.items() if now - one[0] < MAX_AGE_S}
            if key not in self._answers:
                self._answers[key] = (time.monotonic(), look_up())
            return self._answers[key][1]


def _summary(topic: TopicSummary) -> dict[str, Any]:
    return {
        "name": topic.name,
        "partitions": topic.partitions,
        "offsets": topic.offsets,
        "retentionMs": retention_of(topic.settings),
        "cleanupPolicy": topic.settings.get("cleanup.policy"),
    }


def _details(topic: TopicDetails) -> dict[str, Any]:
    return {
        **_summary(topic.summary),
        "settings": {name: masked_value(name, text) for name, text in sorted(topic.summary.settings.items())},
        "ranges": [
            {"partition": number, "begin": begin, "end": topic.end[number], "offsets": topic.end[number] - begin}
            for number, begin in topic.begin.items()
        ],
        "groups": [
            {
                "group": group.group,
                "lag": group.lag,
                "partitions": [
                    {"partition": number, "committed": offset, "lag": max(0, topic.end[number] - offset)}
                    for number, offset in group.committed.items()
                ],
            }
            for group in topic.groups
        ],
        "groupsLeftOut": topic.groups_left_out,
    }
