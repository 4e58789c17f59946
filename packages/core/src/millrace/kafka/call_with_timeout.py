"""Calls of the client that must not last for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """What a call answers, or raises, if it does so in time.

    Args:
        seconds: How long it may take; after that it is left to itself, in a thread that ends with the process.
        call: The call.

    Raises:
        TimeoutError: It takes longer.
    """
    answers: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(call())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True, name="millrace-request")
    thread.start()
    thread.join(seconds)
    if failures:
        raise failures[0]
    if not answers:
        raise TimeoutError(f"no answer within {seconds:.0f} s")
    return answers[0]
