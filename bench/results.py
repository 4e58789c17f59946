"""The file of results: runs with their machine, date and command, and what each has measured last."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.measure import SPARK, Result, Series

FILE = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Figures:
    """The figures of one connector's runs.

    Attributes:
        median: Their median.
        least: The smallest.
        most: The largest.
        beside: Medians of further figures, by what they are.
    """

    median: float
    least: float
    most: float
    beside: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, series: Series) -> Figures:
        """Return those of a series."""
        beside = {what: statistics.median(values) for what, values in series.beside.items()}
        return cls(series.median, min(series.values), max(series.values), beside)


@dataclass(frozen=True)
class Line:
    """A comparison.

    Attributes:
        case: The name of its case on the command line.
        work: What was measured.
        unit: Of the figures.
        millrace: Its figures.
        other: Those that they are compared with; None without any.
        ratio: The median of millrace divided by that of the other; None without another.
        base: What ``other`` is.
        target: A ratio, or a value where there is nothing to compare with; None where nothing is aimed at.
        at_most: Whether the target is a limit rather than a goal.
    """

    case: str
    work: str
    unit: str
    millrace: Figures
    other: Figures | None = None
    ratio: float | None = None
    base: str = SPARK
    target: float | None = None
    at_most: bool = False

    @classmethod
    def of(cls, case: str, result: Result) -> Line:
        """Return that of a result."""
        other = None if result.spark is None else Figures.of(result.spark)
        ours = Figures.of(result.millrace)
        ratio = None if other is None else ours.median / other.median
        return cls(case, result.work, result.unit, ours, other, ratio, result.base, result.target, result.at_most)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Identity of the comparison, by which a later measurement replaces it."""
        return self.case, self.work, self.unit, self.base

    @property
    def is_met(self) -> bool | None:
        """True when the target is reached, None without one; a limit without a ratio holds for every run."""
        if self.target is None:
            return None
        reached = self.millrace.most if self.ratio is None else self.ratio
        return reached <= self.target if self.at_most else reached >= self.target


@dataclass(frozen=True)
class BenchRun:
    """A run of the bench.

    Attributes:
        date: Its day, as ISO 8601 has it.
        command: The command.
        machine: The versions and the size of the machine.
        lines: What it has measured, as far as no later run has measured it again.
        note: A remark for readers.
    """

    date: str
    command: str
    machine: Mapping[str, str]
    lines: tuple[Line, ...]
    note: str = ""


def load(file: Path = FILE) -> tuple[BenchRun, ...]:
    """Read the runs of a file, the oldest first."""
    return tuple(map(_run, json.loads(file.read_text())["runs"])) if file.exists() else ()


def add(runs: Iterable[BenchRun], new: BenchRun) -> tuple[BenchRun, ...]:
    """Add a run; what it has measured again is no longer that of earlier runs."""
    measured = {line.key for line in new.lines}
    earlier = (dataclasses.replace(run, lines=tuple(x for x in run.lines if x.key not in measured)) for run in runs)
    return (*(run for run in earlier if run.lines), new)


def save(runs: Iterable[BenchRun], file: Path = FILE) -> None:
    """Write runs to a file."""
    file.write_text(
        json.dumps({"runs": [dataclasses.asdict(run) for run in runs]}, indent=1, ensure_ascii=False) + "\n"
    )


def _run(values: dict[str, Any]) -> BenchRun:
    return BenchRun(**values | {"lines": tuple(map(_line, values["lines"]))})


def _line(values: dict[str, Any]) -> Line:
    other = values["other"]
    return Line(
        **values | {"millrace": Figures(**values["millrace"]), "other": None if other is None else Figures(**other)}
    )
