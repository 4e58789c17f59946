"""Retry requests to brokers, poll for a condition, and bound calls that may never return."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

REQUEST_TIMEOUT_S = 5.0
"""Timeout of a single request. A wrong address is reported after one, within 10 seconds."""

RETRY_TIMEOUT_S = 60.0
"""Time for which to retry requests to brokers that have answered before: they are restarting, and come back."""

RETRY_INTERVAL_S = 0.2
"""Pause before a request is retried."""

MAX_STUCK_CALLS = 2
"""The number of calls that do not end, each with its thread and its client, that a process goes on with."""

T = TypeVar("T")


@dataclass(frozen=True)
class Clock:
    """A source of time; tests inject their own.

    Attributes:
        now: Monotonic clock, in seconds.
        sleep: Waits for some seconds.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


SYSTEM_CLOCK = Clock()


def call_with_retries(
    call: Callable[[], T],
    is_retryable: Callable[[BaseException], bool],
    timeout_s: float = RETRY_TIMEOUT_S,
    interval_s: float = RETRY_INTERVAL_S,
    *,
    clock: Clock = SYSTEM_CLOCK,
    before_retry: Callable[[], None] | None = None,
) -> T:
    """Return the result of a call, repeating it while it fails with a retryable error.

    Args:
        call: The call.
        is_retryable: Decides by the error of a failed call whether to repeat it.
        timeout_s: How long to go on starting new attempts, in seconds.
        interval_s: Pause between attempts, in seconds.
        clock: Measures the timeout and waits.
        before_retry: Called after each pause.

    Raises:
        Exception: The error of the last attempt.
    """
    # Costs a worker 5 ms, and more where tornado is installed, so that only those pay who make requests
    from tenacity import RetryCallState, Retrying, retry_if_exception, wait_fixed

    deadline = clock.now() + timeout_s

    def is_late(_: RetryCallState) -> bool:
        return clock.now() > deadline

    def before(state: RetryCallState) -> None:
        if before_retry is not None and state.attempt_number > 1:
            before_retry()

    retrying = Retrying(
        sleep=clock.sleep,
        stop=is_late,
        wait=wait_fixed(interval_s),
        retry=retry_if_exception(is_retryable),
        before=before,
        reraise=True,
    )
    return retrying(call)


def poll(
    call: Callable[[], T],
    until: Callable[[T], bool] = bool,
    *,
    timeout_s: float,
    interval_s: float = RETRY_INTERVAL_S,
    clock: Clock = SYSTEM_CLOCK,
) -> T:
    """Repeat a call until its result meets a condition or the time is over, and return the last result.

    Args:
        call: The call, made at least once.
        until: The condition; by default the result must be true.
        timeout_s: How long to go on starting new attempts, in seconds.
        interval_s: Pause between attempts, in seconds.
        clock: Measures the timeout and waits.
    """
    from tenacity import Retrying, retry_if_result, wait_fixed

    deadline = clock.now() + timeout_s

    retrying = Retrying(
        sleep=clock.sleep,
        stop=lambda _: clock.now() > deadline,
        wait=wait_fixed(interval_s),
        retry=retry_if_result(lambda result: not until(result)),
        retry_error_callback=lambda state: state.outcome.result(),  # type: ignore[union-attr]  # after an attempt
    )
    return retrying(call)


class StuckCalls:
    """Calls that have not ended in time, each with its thread and its client."""

    def __init__(self) -> None:
        self._threads: set[threading.Thread] = set()

    def add(self, thread: threading.Thread) -> None:
        """Add the thread of a call."""
        self._threads.add(thread)

    @property
    def are_too_many(self) -> bool:
        """True while more have not ended than a process should go on with."""
        self._threads.difference_update([thread for thread in self._threads if not thread.is_alive()])
        return len(self._threads) > MAX_STUCK_CALLS


STUCK_CALLS = StuckCalls()
"""The calls of this process."""


def call_with_timeout(call: Callable[[], T], timeout_s: float, stuck: StuckCalls = STUCK_CALLS) -> T:
    """Return the result of a call if it returns in time.

    Args:
        call: The call.
        timeout_s: How long to wait, in seconds; after that the call is left behind, in a daemon thread.
        stuck: Calls that have been left behind.

    Raises:
        TimeoutError: The call takes longer.
        BaseException: The error of the call.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True, name="millrace-request")
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        stuck.add(thread)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"no answer within {timeout_s:.0f} s")
    return results[0]
