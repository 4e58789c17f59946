from __future__ import annotations

from millrace.source.reader.dead_letters import RateLimit
from support.clock import Clock


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
