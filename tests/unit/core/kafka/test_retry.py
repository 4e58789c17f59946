from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from millrace.kafka.retry import (
    MAX_STUCK_CALLS,
    Clock,
    StuckCalls,
    call_with_retries,
    call_with_timeout,
    poll,
)
from support.waiting import wait_until


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.clock = Clock(now=lambda: self.now, sleep=self._sleep)
        self.pauses: list[float] = []

    def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


def failing(*failures: Exception) -> Callable[[], str]:
    """Fail in these ways, then succeed."""
    remaining = list(failures)

    def call() -> str:
        if remaining:
            raise remaining.pop(0)
        return "result"

    return call


def is_key_error(error: BaseException) -> bool:
    return isinstance(error, KeyError)


def test_a_call_is_repeated_while_it_fails_with_a_retryable_error(time: Time) -> None:
    assert call_with_retries(failing(KeyError(), KeyError()), is_key_error, 10, 0.5, clock=time.clock) == "result"
    assert time.pauses == [0.5, 0.5]


def test_another_error_is_raised_at_once(time: Time) -> None:
    with pytest.raises(ZeroDivisionError):
        call_with_retries(failing(KeyError(), ZeroDivisionError()), is_key_error, 10, 0.5, clock=time.clock)
    assert time.pauses == [0.5]


def test_the_last_error_is_raised_after_the_timeout(time: Time) -> None:
    failures = [KeyError(number) for number in range(10)]
    with pytest.raises(KeyError) as error:
        call_with_retries(failing(*failures), is_key_error, 1.0, 0.5, clock=time.clock)
    assert error.value is failures[3]
    assert time.pauses == [0.5, 0.5, 0.5]


def test_there_is_something_to_do_before_each_retry(time: Time) -> None:
    seen: list[float] = []
    call = failing(KeyError(), KeyError())
    call_with_retries(call, is_key_error, 10, 0.5, clock=time.clock, before_retry=lambda: seen.append(time.now))
    assert seen == [100.5, 101.0]


def test_a_condition_is_awaited(time: Time) -> None:
    assert poll(lambda: time.now >= 101, timeout_s=10, interval_s=0.25, clock=time.clock)
    assert time.now == 101


def test_the_last_result_is_returned_whether_it_meets_the_condition_or_not(time: Time) -> None:
    def read_clock() -> float:
        return time.now

    assert poll(read_clock, lambda now: now >= 101, timeout_s=10, interval_s=0.5, clock=time.clock) == 101
    assert poll(read_clock, lambda now: now >= 999, timeout_s=1, interval_s=1, clock=time.clock) == 103


def test_a_condition_that_stays_false_ends_with_the_timeout(time: Time) -> None:
    assert not poll(lambda: False, timeout_s=1.0, interval_s=0.5, clock=time.clock)
    assert time.pauses == [0.5, 0.5, 0.5]


def test_a_result_in_time_is_returned() -> None:
    assert call_with_timeout(lambda: 42, 10) == 42
    assert call_with_timeout(lambda: None, 10) is None


def test_a_failure_is_raised_where_the_call_was_made() -> None:
    with pytest.raises(ZeroDivisionError):
        call_with_timeout(lambda: 1 // 0, 10)


def test_a_call_that_does_not_end_is_left_to_itself() -> None:
    end = threading.Event()
    with pytest.raises(TimeoutError, match="no answer within 0 s"):
        call_with_timeout(end.wait, 0.01)
    end.set()


def test_calls_that_do_not_end_are_counted_until_they_do() -> None:
    ends, stuck = [threading.Event() for _ in range(MAX_STUCK_CALLS + 1)], StuckCalls()
    counted = []
    for end in ends:
        with pytest.raises(TimeoutError):
            call_with_timeout(end.wait, 0.01, stuck)
        counted.append(stuck.are_too_many)
    assert counted == [False] * MAX_STUCK_CALLS + [True]
    ends[0].set()
    wait_until(lambda: not stuck.are_too_many, "a call to end")
    for end in ends:
        end.set()
