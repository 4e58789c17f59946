"""Pushes of records that wait for their batch to be full: when they come."""

from __future__ import annotations

import pytest

from millrace.kafka import delivery
from millrace.kafka.delivery import _Pushes
from support.clock import Clock


class WaitingRecords:
    """A client with records that wait."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def flush(self, timeout_s: float) -> int:
        return self.count


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(delivery, "monotonic", clock)
    return clock


def pauses(pushes: _Pushes, clock: Clock, count: int) -> list[float]:
    """Return the pauses in ms before the next pushes."""
    found = []
    for _ in range(count):
        pause = 0
        while not pushes.push_if_due():
            clock.now += 0.001
            pause += 1
        found.append(pause)
    return found


def test_pauses_double_up_to_the_longest_while_nothing_is_acknowledged(clock):
    pushes = _Pushes(WaitingRecords(100), 0.02)
    assert pauses(pushes, clock, 7) == [0, *(pytest.approx(ms, abs=1) for ms in (2, 4, 8, 16, 20, 20))]


def test_an_acknowledgement_is_followed_by_a_push_and_short_pauses(clock):
    client = WaitingRecords(100)
    pushes = _Pushes(client, 0.1)
    pauses(pushes, clock, 5)
    client.count = 90
    assert pauses(pushes, clock, 2) == [0, pytest.approx(2, abs=1)]


def test_errors_that_come_and_go_are_no_acknowledgements(clock):
    client = WaitingRecords(100)
    pushes = _Pushes(client, 0.1)
    pauses(pushes, clock, 6)
    for events in (1, 0, 3, 0):
        client.count = 100 + events
        assert not pushes.push_if_due()
