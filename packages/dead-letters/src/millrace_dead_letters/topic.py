"""Write malformed messages to a topic as they are, with headers for position and reason.

A dead letter has the key, the value and the headers of its message, and more headers for the error, as dead letters of
Kafka Connect have (KIP-298).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from millrace.contracts import DeadLetter, DeadLetterCollector, RecordProducer
from millrace.options import option
from millrace.options.values import parse_topic

ERROR_HEADER_PREFIX = "millrace.error."
"""The beginning of the names of those headers that describe the error."""


@dataclass(frozen=True)
class TopicOptions:
    """The options of the collector ``topic``."""

    topic: str = option(
        "topic",
        parse=parse_topic,
        doc="The topic to write malformed messages to: keys, values and headers unchanged, with additional headers "
        "millrace.error.* for place and reason. It must exist, and must not be among the topics that are read.",
    )


class TopicCollector(DeadLetterCollector):
    """Write malformed messages to the topic of the options."""

    Options = TopicOptions
    options: TopicOptions

    @property
    def topics(self) -> Mapping[str, str]:
        """The topic, and its option."""
        return {self.options.topic: "topic"}

    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        """Produce a record for each message."""
        for letter in letters:
            producer.produce(
                self.options.topic, key=letter.key, value=letter.value, headers=dead_letter_headers(letter)
            )


def dead_letter_headers(letter: DeadLetter) -> list[tuple[str, bytes | None]]:
    """Return a message's own headers, and those for where it was and what is wrong with it."""
    error = {
        "topic": letter.topic,
        "partition": letter.partition,
        "offset": letter.offset,
        "timestamp": letter.timestamp,
        "part": letter.part,
        "format": letter.format,
        "reason": letter.reason,
    }
    added = [(ERROR_HEADER_PREFIX + name, str(value).encode()) for name, value in error.items() if value is not None]
    return [*letter.headers, *added]
