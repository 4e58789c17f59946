"""Write malformed messages to a topic as they are, with headers for position and reason.

A dead letter has the key, the value and the headers of its message, and those of `dead_letter_headers` for the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from millrace.contracts import DeadLetter, DeadLetterCollector, RecordProducer, dead_letter_headers
from millrace.options import option
from millrace.options.values import parse_topic


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
