"""Run both connectors in turn, and compare their figures."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from bench.delayed_proxy import DelayedProxy

SPARK = "Spark's own"
MILLRACE = "millrace"


@dataclass(frozen=True)
class Bench:
    """The tools of a case: session, broker, topics, and numbers of records and runs.

    Attributes:
        spark: The session of both connectors.
        servers: The broker.
        topics: Its topics.
        records: How many records a read or a write has.
        runs: How often each connector is measured.
        warm_ups: How often each runs before that.
        batches: Micro-batches in a run.
        tls_servers: The broker's listener with TLS.
        tls_client: Properties of a client of that.
        far: The broker at a distance.
        distances_ms: How far away that is; round trips, in ms.
    """

    spark: SparkSession
    servers: str
    topics: Topics
    records: int
    runs: int
    warm_ups: int
    batches: int
    tls_servers: str
    tls_client: Mapping[str, str]
    far: DelayedProxy
    distances_ms: tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """The figures of one run.

    Attributes:
        value: What is compared.
        beside: Further figures, by what they are.
    """

    value: float
    beside: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Series:
    """The figures of one connector's runs.

    Attributes:
        values: What is compared.
        beside: Further figures of each run, by what they are.
    """

    values: tuple[float, ...]
    beside: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The median of the figures."""
        return statistics.median(self.values)

    def figure_beside(self, what: str) -> Series:
        """Return one of the further figures, to compare it."""
        return Series(self.beside[what])


@dataclass(frozen=True)
class Result:
    """A line of the report.

    Attributes:
        work: What was measured.
        unit: Of the values.
        millrace: Its runs.
        spark: The runs of Spark's own connector; None where there is nothing to compare with.
        target: What is aimed at: a ratio to Spark's own connector, or a value where there is none; None if nothing
            is.
        at_most: Whether the target is a limit rather than a goal.
        base: What ``spark`` measured, where that is not Spark's own connector.
    """

    work: str
    unit: str
    millrace: Series
    spark: Series | None
    target: float | None
    at_most: bool = False
    base: str = SPARK


def alternate(bench: Bench, work: str, contestants: Mapping[str, Callable[[], float | Run]]) -> dict[str, Series]:
    """Run the connectors in turn, so that a machine that slows down does so for both.

    Args:
        bench: Says how often.
        work: What is measured, for the progress lines.
        contestants: What to run, by name; answers what it measured.
    """
    runs: dict[str, list[Run]] = {name: [] for name in contestants}
    order = list(contestants)
    for number in range(-bench.warm_ups, bench.runs):
        for name in order:
            measured = contestants[name]()
            run = measured if isinstance(measured, Run) else Run(measured)
            beside = "".join(f", {value:,.2f} {what}" for what, value in run.beside.items())
            turn = f"run {number + 1}" if number >= 0 else "warm-up"
            print(f"  {work}, {turn}, {name}: {run.value:,.1f}{beside}", flush=True)
            if number >= 0:
                runs[name].append(run)
        order.reverse()
    return {name: _series(of_name) for name, of_name in runs.items()}


def _series(runs: list[Run]) -> Series:
    beside = {what: tuple(run.beside[what] for run in runs) for what in runs[0].beside}
    return Series(tuple(run.value for run in runs), beside)


def records_per_second(records: int, work: Callable[[], Any]) -> float:
    """Run work, and return its rate."""
    started = time.perf_counter()
    work()
    return records / (time.perf_counter() - started)


class SameAnswer:
    """A check that all runs of both connectors read the same."""

    def __init__(self) -> None:
        self._first: Any = None

    def check(self, answer: Any) -> None:
        """Compare an answer with the first one.

        Raises:
            RuntimeError: They differ, so that their durations mean nothing.
        """
        if self._first is None:
            self._first = answer
        if answer != self._first:
            raise RuntimeError(f"two reads of one topic differ: {self._first} and {answer}")
