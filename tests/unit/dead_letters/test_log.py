from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from millrace.contracts import DeadLetter
from millrace.testing import DeadLetterCollectorSuite
from millrace.testing.dead_letter_collector import RecordList
from millrace_dead_letters.log import LogCollector, RateLimit
from support.clock import Clock

Bad = Callable[..., list[DeadLetter]]
NO_TOPICS = RecordList({})


class TestSuite(DeadLetterCollectorSuite):
    @pytest.fixture(autouse=True)
    def keep_log(self, caplog: pytest.LogCaptureFixture) -> None:
        self.log = caplog

    def make_collector(self) -> LogCollector:
        return LogCollector(rate_limit=RateLimit(1_000, 1_000.0))

    def collected(self, records: Sequence[object]) -> list[str]:
        return [message for message in self.log.messages if message.endswith(". It is skipped")]


def test_messages_are_logged_with_place_reason_and_beginning(bad: Bad, caplog: pytest.LogCaptureFixture) -> None:
    log = LogCollector(rate_limit=RateLimit(10, 10.0))
    log.collect(bad({"value": b"{oops"}, {"value": b"x" * 500}), NO_TOPICS)
    log.finish()
    assert caplog.messages == [
        "malformed message in topic 'orders', partition 3, offset 100: no good. It begins with '{oops'. It is skipped",
        f"malformed message in topic 'orders', partition 3, offset 101: no good. It begins with '{'x' * 120}' (the "
        "first 120 of 500 bytes). It is skipped",
    ]
    assert {(record.name, record.levelname) for record in caplog.records} == {("millrace.dirty_data", "WARNING")}


def test_a_flood_is_counted_and_not_logged(bad: Bad, caplog: pytest.LogCaptureFixture) -> None:
    rate = RateLimit(2, 1_000.0)
    for _ in range(2):
        log = LogCollector(rate_limit=rate)
        log.collect(bad({}, {}, {}), NO_TOPICS)
        log.collect(bad({}), NO_TOPICS)
        log.finish()
    assert [message.partition(" that")[0] for message in caplog.messages[2:]] == [
        "This task skipped 2 more malformed messages",
        "This task skipped 4 more malformed messages",
    ]
    assert "that are not logged (limit: 10 per 10 s)" in caplog.messages[2]


def test_tasks_of_a_process_share_a_limit(bad: Bad, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        log = LogCollector()
        log.collect(bad(*[{}] * 8), NO_TOPICS)
    assert len(caplog.messages) <= 10


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
