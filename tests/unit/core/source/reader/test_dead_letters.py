"""Collectors of malformed messages; the broker for dead letters does not exist here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from millrace.configuration.build import configure_source
from millrace.errors import DeliveryError, MessageError
from millrace.kafka.producer import PRODUCERS
from millrace.options.secrets import Properties
from millrace.records.messages import Messages
from millrace.source.reader.dead_letters import (
    DeadLetterTopic,
    DiscardingCollector,
    LogCollector,
    RateLimit,
    collector_for,
    dead_letter_headers,
)
from millrace.source.reader.error_policy import MalformedRecord
from millrace.worker import WorkerResources
from support.clock import Clock

Make = Callable[..., Messages]
NOWHERE = {"bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": "50"}


@pytest.fixture
def bad(messages: Make) -> Callable[..., list[MalformedRecord]]:
    """Malformed messages with these properties."""
    return lambda *properties: [MalformedRecord(item, "no good", "json") for item in messages(*properties).items]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, DiscardingCollector),
        ({"dirty-data.collector": "logger"}, LogCollector),
        ({"dirty-data.collector": "topic", "dirty-data.collector.topic": "dead"}, DeadLetterTopic),
    ],
)
def test_the_options_choose(options: dict[str, str], expected: type) -> None:
    given = {"properties.bootstrap.servers": "h:1", "format": "json", "ingestion.ignore-errors": "true", **options}
    collector = collector_for(configure_source(given))
    assert type(collector) is expected
    collector.finish()


def test_messages_are_logged_with_place_reason_and_beginning(
    bad: Callable[..., list[MalformedRecord]], caplog: pytest.LogCaptureFixture
) -> None:
    log = LogCollector(RateLimit(10, 10.0))
    log.collect(bad({"value": b"{oops"}, {"value": b"x" * 500}))
    log.finish()
    assert caplog.messages == [
        "malformed message in topic 'orders', partition 3, offset 100: no good. It begins with '{oops'. It is skipped",
        f"malformed message in topic 'orders', partition 3, offset 101: no good. It begins with '{'x' * 120}' (the "
        "first 120 of 500 bytes). It is skipped",
    ]
    assert {(record.name, record.levelname) for record in caplog.records} == {("millrace.dirty_data", "WARNING")}


def test_a_flood_is_counted_and_not_logged(
    bad: Callable[..., list[MalformedRecord]], caplog: pytest.LogCaptureFixture
) -> None:
    rate = RateLimit(2, 1_000.0)
    for _ in range(2):
        log = LogCollector(rate)
        log.collect(bad({}, {}, {}))
        log.collect(bad({}))
        log.finish()
    assert [message.partition(" that")[0] for message in caplog.messages[2:]] == [
        "This task skipped 2 more malformed messages",
        "This task skipped 4 more malformed messages",
    ]
    assert "that are not logged (limit: 10 per 10 s)" in caplog.messages[2]


def test_a_dead_letter_has_the_messages_headers_and_its_place(bad: Callable[..., list[MalformedRecord]]) -> None:
    own = [("a", b"1"), ("a", None), ("b", b"\xff")]
    (one,) = bad({"value": b"v", "headers": own, "timestamp": (1, 1_500)})
    assert dead_letter_headers(one) == [
        *own,
        ("millrace.error.topic", b"orders"),
        ("millrace.error.partition", b"3"),
        ("millrace.error.offset", b"100"),
        ("millrace.error.timestamp", b"1500"),
        ("millrace.error.part", b"value"),
        ("millrace.error.format", b"json"),
        ("millrace.error.reason", b"no good"),
    ]


def test_a_message_without_a_timestamp_has_none(messages: Make) -> None:
    (item,) = messages({"timestamp": (0, -1)}).items
    names = [name for name, _ in dead_letter_headers(MalformedRecord(item, "bäd", "json", is_key=True))]
    assert "millrace.error.timestamp" not in names
    assert dead_letter_headers(MalformedRecord(item, "bäd", "json", is_key=True))[3:] == [
        ("millrace.error.part", b"key"),
        ("millrace.error.format", b"json"),
        ("millrace.error.reason", "bäd".encode()),
    ]


def test_dead_letters_that_nobody_takes_fail_the_task(bad: Callable[..., list[MalformedRecord]]) -> None:
    letters = DeadLetterTopic(Properties(NOWHERE), "dead")
    letters.collect(bad({"value": b"v", "key": b"k"}, {"value": None}))
    with pytest.raises(DeliveryError) as error:
        letters.finish()
    text = str(error.value)
    assert text.startswith(
        "2 of 2 malformed messages (option 'dirty-data.collector.topic') handed to the client so far were not "
        "delivered; the first, topic dead: Local: "
    )
    assert text.endswith("The task fails, and Spark reads its messages again when it is tried again")


def test_those_of_the_task_before_are_not_this_tasks(bad: Callable[..., list[MalformedRecord]]) -> None:
    client = Properties({**NOWHERE, "client.id": "dead-letters-of-two-tasks"})
    first = DeadLetterTopic(client, "dead")
    first.collect(bad({"value": b"v"}))
    with pytest.raises(DeliveryError, match="1 of 1"):
        first.finish()
    second = DeadLetterTopic(client, "dead")
    second.collect(bad({"value": b"v"}))
    with pytest.raises(DeliveryError, match="1 of 1"):
        second.finish()


def test_one_that_is_too_large_names_what_to_raise(bad: Callable[..., list[MalformedRecord]]) -> None:
    letters = DeadLetterTopic(Properties({**NOWHERE, "message.max.bytes": "1000"}), "dead")
    with pytest.raises(MessageError, match=r"a record for topic 'dead' is larger than .*'properties.max.request.size'"):
        letters.collect(bad({"value": b"x" * 2_000}))


def test_no_producer_is_made_without_a_dead_letter() -> None:
    resources = WorkerResources()
    DeadLetterTopic(Properties(NOWHERE), "dead", resources).finish()
    assert resources.items(PRODUCERS) == {}


def test_so_many_are_allowed_in_each_span() -> None:
    clock = Clock()
    rate = RateLimit(2, 10.0, clock)
    assert [rate.try_acquire() for _ in range(4)] == [True, True, False, False]
    clock.now += 9.9
    assert not rate.try_acquire()
    clock.now += 0.1
    assert [rate.try_acquire() for _ in range(3)] == [True, True, False]


def test_a_span_begins_with_the_first() -> None:
    clock = Clock()
    rate = RateLimit(1, 10.0, clock)
    clock.now += 25
    assert rate.try_acquire()
    clock.now += 9
    assert not rate.try_acquire()
