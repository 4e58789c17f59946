from __future__ import annotations

import threading

import pytest

from millrace.kafka.call_with_timeout import within


def test_an_answer_in_time_is_returned() -> None:
    assert within(10, lambda: 42) == 42
    assert within(10, lambda: None) is None


def test_a_failure_is_raised_where_the_call_was_made() -> None:
    with pytest.raises(ZeroDivisionError):
        within(10, lambda: 1 // 0)


def test_a_call_that_does_not_end_is_left_to_itself() -> None:
    end = threading.Event()
    with pytest.raises(TimeoutError, match="no answer within 0 s"):
        within(0.01, end.wait)
    end.set()
