"""The way of malformed messages to a collector, and of its records to Kafka; the broker does not exist here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from millrace.configuration.build import configure_source
from millrace.contracts import DeadLetter, DeadLetterCollector, RecordProducer
from millrace.errors import DeliveryError, MessageError, PluginError
from millrace.kafka.producer import PRODUCERS
from millrace.options.secrets import Properties
from millrace.records.messages import Messages
from millrace.source.reader import dead_letters
from millrace.source.reader.dead_letters import DiscardingCollector, PluginCollector, TaskProducer, collector_for
from millrace.source.reader.error_policy import MalformedRecord
from millrace.worker import WorkerResources

Make = Callable[..., Messages]
NOWHERE = {"bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": "50"}


class Forwarding(DeadLetterCollector):
    """Produce to one topic, and says so."""

    topics = {"dead": "to"}  # noqa: RUF012

    def __init__(self, options: object = None) -> None:
        super().__init__(options)
        self.seen: list[DeadLetter] = []

    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        self.seen.extend(letters)
        for letter in letters:
            producer.produce("dead", key=letter.key, value=letter.value)


@pytest.fixture(autouse=True)
def _topics_take_any_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "_fitting", lambda client, topics: client)


@pytest.fixture
def bad(messages: Make) -> Callable[..., list[MalformedRecord]]:
    """Malformed messages with these properties."""
    return lambda *properties: [MalformedRecord(item, "no good", "json") for item in messages(*properties).items]


def letters(client: Properties) -> PluginCollector:
    return PluginCollector(Forwarding(), TaskProducer(client, Forwarding.topics))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, None),
        ({"dirty-data.collector": "logger"}, "LogCollector"),
        ({"dirty-data.collector.type": "LOGGER"}, "LogCollector"),
        ({"dirty-data.collector": "topic", "dirty-data.collector.topic": "dead"}, "TopicCollector"),
        ({"dirty-data.collector": "support.plugins:KeepNothing", "dirty-data.collector.limit": "7"}, "KeepNothing"),
    ],
)
def test_the_options_choose(options: dict[str, str], expected: str | None) -> None:
    given = {"properties.bootstrap.servers": "h:1", "format": "json", "ingestion.ignore-errors": "true", **options}
    config = configure_source(given)
    collector = collector_for(config)
    if expected is None:
        assert isinstance(collector, DiscardingCollector)
    else:
        assert config.dead_letter_collector is not None
        assert type(config.dead_letter_collector.create()).__name__ == expected
    collector.finish()


def test_a_collector_gets_messages_with_all_that_they_have(bad: Callable[..., list[MalformedRecord]]) -> None:
    collector = Forwarding()
    client = Properties({**NOWHERE, "client.id": "dead-letters-that-nobody-waits-for"})
    task = PluginCollector(collector, TaskProducer(client, Forwarding.topics))
    headers = [("a", b"1"), ("a", None)]
    task.collect(bad({"key": b"k", "value": b"{oops", "headers": headers, "timestamp": (1, 1_500)}))
    assert collector.seen == [
        DeadLetter("orders", 3, 100, 1_500, b"k", b"{oops", tuple(headers), "value", "json", "no good")
    ]


def test_a_collector_is_told_which_part_is_wrong(messages: Make) -> None:
    (item,) = messages({"timestamp": (0, -1)}).items
    letter = MalformedRecord(item, "bäd", "json", is_key=True).dead_letter
    assert (letter.part, letter.timestamp, letter.headers) == ("key", None, ())


def test_dead_letters_that_nobody_takes_fail_the_task(bad: Callable[..., list[MalformedRecord]]) -> None:
    collector = letters(Properties(NOWHERE))
    collector.collect(bad({"value": b"v", "key": b"k"}, {"value": None}))
    with pytest.raises(DeliveryError) as error:
        collector.finish()
    text = str(error.value)
    assert text.startswith(
        "2 of 2 dead letters (option 'dirty-data.collector') handed to the client so far were not delivered; the "
        "first, topic dead: Local: "
    )
    assert text.endswith("The task fails, and Spark reads its messages again when it is tried again")


def test_those_of_the_task_before_are_not_this_tasks(bad: Callable[..., list[MalformedRecord]]) -> None:
    client = Properties({**NOWHERE, "client.id": "dead-letters-of-two-tasks"})
    for _ in range(2):
        collector = letters(client)
        collector.collect(bad({"value": b"v"}))
        with pytest.raises(DeliveryError, match="1 of 1"):
            collector.finish()


def test_one_that_is_too_large_names_what_to_raise(bad: Callable[..., list[MalformedRecord]]) -> None:
    collector = letters(Properties({**NOWHERE, "message.max.bytes": "1000"}))
    with pytest.raises(MessageError, match=r"a record for topic 'dead' is larger than .*'properties.max.request.size'"):
        collector.collect(bad({"value": b"x" * 2_000}))


def test_a_topic_that_the_driver_has_not_checked_is_refused() -> None:
    producer = TaskProducer(Properties(NOWHERE), {"dead": "topic"})
    with pytest.raises(PluginError, match=r"produces to topic 'other', but its property 'topics' names 'dead'"):
        producer.produce("other", key=None, value=None)


def test_no_producer_is_made_without_a_dead_letter() -> None:
    resources = WorkerResources()
    PluginCollector(Forwarding(), TaskProducer(Properties(NOWHERE), Forwarding.topics, resources)).finish()
    assert resources.items(PRODUCERS) == {}
