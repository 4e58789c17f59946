"""What the demo shows while it runs, whatever it is shown on."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from millrace_cli.demo.progress import Lag
from millrace_cli.demo.results import Result


@dataclass(frozen=True)
class Snapshot:
    """The state of the demo at one moment.

    Attributes:
        seconds: Since the first result; None before it.
        of_seconds: How long the demo shows results.
        sent: Orders sent so far.
        rows_in: Records read by the query so far.
        rows_in_rate: Records read per second.
        rows_out: Results so far.
        rows_out_rate: Results per second.
        batches: Micro-batches so far.
        batch_ms: Milliseconds that the last one took.
        lag: What waits to be read.
        newest: The newest results, the newest first.
    """

    seconds: float | None
    of_seconds: float
    sent: int
    rows_in: int
    rows_in_rate: float
    rows_out: int
    rows_out_rate: float
    batches: int
    batch_ms: int
    lag: Lag
    newest: Sequence[Result]


class Display(Protocol):
    """Shows the demo; used as a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def say(self, text: str) -> None:
        """Show a line that stays."""

    def show(self, snapshot: Snapshot) -> None:
        """Show the numbers, in place of the last ones where that is possible."""


def open_display(plain: bool) -> Display:
    """The live display on a terminal, plain lines elsewhere.

    Args:
        plain: Plain lines in any case.
    """
    if plain or not sys.stdout.isatty():
        from millrace_cli.demo.plain import PlainDisplay

        return PlainDisplay(sys.stdout)
    from millrace_cli.demo.live import LiveDisplay

    return LiveDisplay(sys.stdout)


def rate_text(rate: float) -> str:
    """A rate per second for people: one digit after the point where it is small."""
    return f"{rate:.1f}/s" if rate < 100 else f"{rate:,.0f}/s"


def window_text(result: Result) -> str:
    """A result's window as two times of the day."""
    return f"{_time_of_day(result.start)}-{_time_of_day(result.end)}"


def _time_of_day(timestamp: str) -> str:
    return timestamp[11:19]
