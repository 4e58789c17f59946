"""The figures that the demo shows while it runs, and the interface of its displays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from millrace_cli.demo.query_progress import Lag
from millrace_cli.demo.sales_reader import CountryTotal


@dataclass(frozen=True)
class Snapshot:
    """The state of the demo at one moment.

    Attributes:
        seconds: Time since the first result; None before it.
        of_seconds: Time for which the demo shows results.
        sent: Orders produced so far.
        rows_in: Records read by the query so far.
        rows_in_rate: Records read per second.
        rows_out: Sales so far.
        rows_out_rate: Sales per second.
        batches: Micro-batches so far.
        batch_ms: Duration of the last one, in ms.
        lag: Records of each partition that are not read yet.
        totals: The sales of each country, the highest revenue first.
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
    totals: Sequence[CountryTotal]


class Display(Protocol):
    """A display of the demo, used as a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def say(self, text: str) -> None:
        """Show a permanent line."""

    def show(self, snapshot: Snapshot) -> None:
        """Show the figures, in place of the previous ones where possible."""


def rate_text(rate: float) -> str:
    """Format a rate per second, with one decimal where it is small."""
    return f"{rate:.1f}/s" if rate < 100 else f"{rate:,.0f}/s"
