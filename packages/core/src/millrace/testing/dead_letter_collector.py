"""The conformance suite for dead letter collectors."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from millrace.contracts import DeadLetter, DeadLetterCollector
from millrace.errors import PluginError
from millrace.testing.plugin_options import PluginOptionsSuite


@dataclass(frozen=True)
class ProducedRecord:
    """A record that a collector has produced."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class RecordList:
    """A `RecordProducer` that keeps records in a list, and refuses what Kafka would.

    Args:
        topics: The topics that it accepts.

    Attributes:
        records: The records, in order.
    """

    def __init__(self, topics: Mapping[str, str]) -> None:
        self._topics = topics
        self.records: list[ProducedRecord] = []

    def produce(
        self,
        topic: str,
        *,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] = (),
    ) -> None:
        """Keep a record: see `RecordProducer.produce`."""
        if topic not in self._topics:
            raise PluginError(f"topic {topic!r} is none of the collector's topics; return every topic from `topics`")
        for name, payload in (("key", key), ("value", value)):
            assert payload is None or isinstance(payload, bytes), f"the {name} of a record is bytes or None"
        for header in headers:
            assert isinstance(header[0], str), "headers are pairs of a name, which is text, and bytes or None"
            assert header[1] is None or isinstance(header[1], bytes), "the value of a header is bytes or None"
        self.records.append(ProducedRecord(topic, key, value, tuple(headers)))


class DeadLetterCollectorSuite(PluginOptionsSuite):
    """Tests that a dead letter collector keeps its contract.

    Subclass it in a test module, with a name that pytest collects, and override `make_collector` and `collected`::

        class TestFiles(DeadLetterCollectorSuite):
            def make_collector(self):
                return FileCollector(FileOptions(folder=str(self.folder)))

            def collected(self, records):
                return [line for file in self.folder.iterdir() for line in file.read_text().splitlines()]

    Rules that the tests check:

    - A task has a collector of its own, and tasks run at the same time: nothing that one collects disturbs another.
    - Any message may be malformed: without key, value, headers or timestamp, with bytes that are no text.
    - `collect` may be called never, once or often; `finish` is called once at the end, also without any message.
    - After `finish` each message is where it belongs. One that is collected again, as when Spark repeats a task, may
      be there twice.
    - Records are produced to `topics` only, which are the same on the driver and on executors.

    What is collected, such as the form of a line, is for tests of your own.
    """

    @abstractmethod
    def make_collector(self) -> DeadLetterCollector:
        """Make a new collector, as for another task."""

    @abstractmethod
    def collected(self, records: Sequence[ProducedRecord]) -> Sequence[object]:
        """Return what all collectors of the test have collected, one item a message, in any order.

        Args:
            records: The records that they produced; the collected messages themselves for one that writes to topics.
        """

    def letters(self) -> Sequence[DeadLetter]:
        """Return the messages to collect; by default two usual and many odd ones."""
        usual = DeadLetter(
            topic="orders",
            partition=3,
            offset=100,
            timestamp=1_700_000_000_000,
            key=b"k",
            value=b"{oops",
            headers=(("trace", b"1"),),
            part="value",
            format="json",
            reason="not JSON",
        )
        odd: list[dict[str, Any]] = [
            {"part": "key"},
            {"key": None, "timestamp": None, "headers": ()},
            {"value": None, "part": "key", "reason": "Schlüssel\n\x00"},
            {"key": b"", "value": b""},
            {"value": b"\xff\x00\n not UTF-8", "headers": (("a", b"1"), ("a", None), ("", b"\xff"))},
            {"value": b"x" * 10_000, "offset": 2**40},
        ]
        changes = [{"offset": 101 + number, **change} for number, change in enumerate(odd)]
        return [usual, *(dataclasses.replace(usual, **change) for change in changes)]

    def make_plugin(self) -> DeadLetterCollector:
        """Make the collector for the tests of its options."""
        return self.make_collector()

    def test_is_a_dead_letter_collector(self) -> None:
        assert isinstance(self.make_collector(), DeadLetterCollector), "subclass millrace.contracts.DeadLetterCollector"

    def test_topics_are_named_with_their_options(self) -> None:
        topics = self.make_collector().topics
        assert isinstance(topics, Mapping), f"`topics` must map topics to the options that name them; it is {topics!r}"
        names = {*topics, *topics.values()}
        assert all(isinstance(name, str) for name in names), (
            "`topics` maps the names of topics to those of their options"
        )

    def test_executors_make_the_same_collector(self) -> None:
        remade = self.remake_plugin()
        assert isinstance(remade, DeadLetterCollector), "an executor makes the collector of its class and its options"
        assert remade.topics == self.make_collector().topics, "`topics` may depend on the options alone"

    def test_a_task_without_malformed_messages_collects_none(self) -> None:
        assert self._items([]) == 0, "a task without malformed messages must leave nothing behind"

    def test_each_message_is_collected(self) -> None:
        letters = self.letters()
        assert self._items([letters]) == len(letters), "after `finish` there must be an item for each message"

    def test_messages_are_collected_one_by_one_too(self) -> None:
        letters = self.letters()
        assert self._items([letter] for letter in letters) == len(letters), "`collect` may be called often"

    def test_messages_are_left_as_they_were(self) -> None:
        letters = list(self.letters())
        self._items([letters])
        assert letters == list(self.letters()), "the list belongs to the caller"

    def test_tasks_do_not_disturb_each_other(self) -> None:
        letters = self.letters()
        first, second = self.make_collector(), self.make_collector()
        producers = [RecordList(first.topics), RecordList(second.topics)]
        for letter in letters:
            first.collect([letter], producers[0])
            second.collect([letter], producers[1])
        first.finish()
        second.finish()
        records = [record for producer in producers for record in producer.records]
        assert len(self.collected(records)) == 2 * len(letters), (
            "two tasks at once must collect what each one does alone"
        )

    def test_a_repeated_task_is_collected(self) -> None:
        letters = self.letters()
        self._items([letters])
        assert self._items([letters]) >= len(letters), "messages that come again must be there, once or twice"

    def _items(self, calls: Iterable[Sequence[DeadLetter]]) -> int:
        """Run a task, and count what all tasks of the test have collected."""
        collector = self.make_collector()
        producer = RecordList(collector.topics)
        for letters in calls:
            collector.collect(letters, producer)
        collector.finish()
        return len(self.collected(producer.records))
