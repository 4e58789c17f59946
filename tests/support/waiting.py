"""Waiting for conditions, never for time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE_S = 240.0
"""Longer than one step takes on a busy machine, where Spark alone may start for a minute; only failures wait it out."""


def wait_until(
    condition: Callable[[], object], what: str, timeout_s: float = PATIENCE_S, interval_s: float = 0.05
) -> None:
    """Return as soon as ``condition`` holds; fail, saying ``what`` was waited for, when it does not in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"waited {timeout_s:.0f} s for {what}"
        time.sleep(interval_s)


def wait_until_quiet(state: Callable[[], object], what: str, quiet_s: float = 8.0) -> None:
    """Return when ``state`` has not changed for ``quiet_s`` seconds; for what shows itself by nothing happening."""
    seen, since = state(), time.monotonic()

    def is_quiet() -> bool:
        nonlocal seen, since
        now = state()
        if now != seen:
            seen, since = now, time.monotonic()
        return time.monotonic() - since >= quiet_s

    wait_until(is_quiet, what)


@contextmanager
def sooner_than(seconds: float, other: str) -> Iterator[None]:
    """Check that the block does not do what takes longer on any machine.

    Args:
        seconds: How long that takes at least, such as retries of a minute; the block takes a small part of it.
        other: Its name, for the message.
    """
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds, f"took {took:.1f} s, as long as {other}"
