"""The demo's display as plain lines, for pipes and logs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self, TextIO

from millrace_cli.demo.display import Snapshot, rate_text

_LINE_INTERVAL_SECONDS = 2.0
_COUNTRIES_PER_LINE = 3


class PlainDisplay:
    """A display that writes a line every two seconds.

    Args:
        stream: Where to write.
        clock: Monotonic clock, in seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._next_line_at = clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stream.flush()

    def say(self, text: str) -> None:
        """Write a line."""
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def show(self, snapshot: Snapshot) -> None:
        """Write a line, unless one was written just before or no micro-batch has completed yet."""
        if snapshot.batches and self._clock() >= self._next_line_at:
            self._next_line_at = self._clock() + _LINE_INTERVAL_SECONDS
            self.say(snapshot_line(snapshot))


def snapshot_line(snapshot: Snapshot) -> str:
    """Format the figures in one line."""
    time_text = "  start" if snapshot.seconds is None else f"{snapshot.seconds:5.0f} s"
    lag = " ".join(f"{topic}-{partition}:{rows}" for (topic, partition), rows in sorted(snapshot.lag.items()))
    totals = " ".join(f"{total.country}:{total.revenue:,.0f}" for total in snapshot.totals[:_COUNTRIES_PER_LINE])
    return (
        f"{time_text} | in {rate_text(snapshot.rows_in_rate)} | out {rate_text(snapshot.rows_out_rate)}"
        f" | lag {lag or '-'} | revenue {totals or '-'}"
    )
