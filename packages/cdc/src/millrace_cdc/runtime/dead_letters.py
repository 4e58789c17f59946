"""The malformed messages that a pipeline skips, on their way to its collector of dirty data."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from millrace.contracts import DeadLetter, DeadLetterCollector
from millrace.errors import OptionsError
from millrace_cdc.runtime.extra_columns import HEADERS_COLUMN

if TYPE_CHECKING:
    import pyarrow as pa

    from millrace.options.secrets import Properties
    from millrace.plugins.manager import PluginRef


class DeadLetters:
    """The malformed messages of one task.

    Args:
        collector: Collects them.
        client: Properties of the Kafka client of collectors that write to topics; None where the source has none.
    """

    def __init__(self, collector: PluginRef, client: Properties | None) -> None:
        from millrace.collecting import TaskProducer
        from millrace.options.secrets import Properties

        self._collector: DeadLetterCollector = collector.create()
        self._producer = TaskProducer(Properties({}) if client is None else client, self._collector.topics)
        self._letters: list[DeadLetter] = []

    def add(self, letter: DeadLetter, messages: pa.RecordBatch, row: int) -> None:
        """Keep a message of a batch for `collect`; the batch has its timestamp and its headers."""
        time = messages.column("timestamp")[row].as_py()
        names = messages.schema.names
        headers = messages.column(HEADERS_COLUMN)[row].as_py() if HEADERS_COLUMN in names else None
        self._letters.append(
            replace(
                letter,
                timestamp=None if time is None else round(time.timestamp() * 1000),
                headers=tuple(
                    tuple(header.values()) if isinstance(header, dict) else tuple(header) for header in headers or ()
                ),
            )
        )

    def collect(self) -> None:
        """Hand the kept messages to the collector.

        Raises:
            DeliveryError: Earlier ones could not be delivered.
        """
        for _, letters in itertools.groupby(self._letters, lambda letter: (letter.topic, letter.partition)):
            self._collector.collect(list(letters), self._producer)
        self._letters = []
        self._producer.check()

    def finish(self) -> None:
        """Return when all messages are where they belong.

        Raises:
            DeliveryError: Some could not be delivered.
        """
        self._collector.finish()
        self._producer.flush()


def paused_letter(
    table: str,
    paused: Mapping[str, str],
    place: tuple[str, int, int],
    key: bytes | None,
    value: bytes | None,
    name: str,
) -> DeadLetter:
    """Return the letter of a message of a paused table.

    Args:
        table: The table.
        paused: The reasons of paused tables.
        place: Topic, partition and offset of the message.
        key: Its key.
        value: Its value.
        name: Its format.
    """
    return DeadLetter(*place, None, key, value, (), "value", name, f"table {table!r} is paused: {paused[table]}")


def check_collector(collector: PluginRef, client: Properties | None, reads: Callable[[str], bool]) -> None:
    """Check on the driver, before the first task, that a collector can write what it gets.

    Args:
        collector: The collector.
        client: Properties of the source's Kafka client; None where it has none.
        reads: Whether the source reads a topic.

    Raises:
        OptionsError: It writes to topics where there are none, or that the source reads.
        ClientError: A topic does not exist, or this client may not write to it.
    """
    from millrace.collecting import check_collector_topics

    letter_collector: DeadLetterCollector = collector.create()
    problems: Sequence[str] = [
        f"'dirty-data.collector.{option}': {topic!r} is among the topics that the source reads; give another one"
        for topic, option in letter_collector.topics.items()
        if reads(topic)
    ]
    if letter_collector.topics and client is None:
        problems = ["'dirty-data.collector' writes to a topic, and the source has no brokers: give logger"]
    if problems:
        raise OptionsError("pipeline", tuple(problems))
    if client is not None:
        check_collector_topics(letter_collector, client)
