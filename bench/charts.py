"""Charts of the file of results: throughput and processor time by the distance to brokers, and latency."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.distance import PROCESSOR_TIME
from bench.measure import MILLRACE, SPARK
from bench.results import BenchRun, Line
from bench.svg import Drawing

FOLDER = Path(__file__).with_name("charts")

_P99 = "p99 ms"
_WIDTH, _NAMES, _BARS = 760, 250, 380
_BAR_HEIGHT, _GROUP_GAP = 20, 14
_MACHINE = (
    "Cores",
    "Memory",
    "System",
    "Python",
    "Java",
    "PySpark and its own Kafka connector",
    "Apache Kafka (broker)",
)
_OTHERS = (SPARK, f"{SPARK}, tuned")


@dataclass(frozen=True)
class Bar:
    """A bar of a chart.

    Attributes:
        name: What was measured.
        value: The figure.
        is_ours: Whether it is millrace's.
        p99: The 99th percentile of the same; None where there is none.
    """

    name: str
    value: float
    is_ours: bool
    p99: float | None = None

    @property
    def figures(self) -> str:
        """The figures as text."""
        text = _figure(self.value)
        return text if self.p99 is None else f"{text}, p99 {_figure(self.p99)}"


@dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes:
        name: The name of its file.
        title: Its title, with the unit.
        groups: Bars by what they have in common, in order.
        runs: The runs that have measured them.
    """

    name: str
    title: str
    groups: dict[str, list[Bar]]
    runs: tuple[BenchRun, ...]

    @property
    def alternative(self) -> str:
        """The text for those who do not see the chart: all of its figures."""
        figures = {name: ", ".join(f"{bar.name} {bar.figures}" for bar in bars) for name, bars in self.groups.items()}
        return f"{self.title}. {'; '.join(f'{name}: {text}' for name, text in figures.items())}"

    @property
    def origin(self) -> list[str]:
        """The date, the command and the machine of each run."""
        made = [f"On {run.date}, by {run.command}.{f' {run.note}' if run.note else ''}" for run in self.runs]
        machines = dict.fromkeys(", ".join(f"{key} {run.machine[key]}" for key in _MACHINE) for run in self.runs)
        return [line for text in (*made, *machines) for line in textwrap.wrap(text, 115)]


def charts(runs: Sequence[BenchRun]) -> list[Chart]:
    """Return the charts for which there are results."""
    drawn = [
        _of_distances(
            "throughput", "Records per second, by the round trip to brokers", runs, lambda series: series.median
        ),
        _of_distances(
            "processor-time",
            "Seconds of processor time per million records",
            runs,
            lambda series: series.beside.get(PROCESSOR_TIME),
        ),
        _latency(runs),
    ]
    return [chart for chart in drawn if chart.groups]


def draw(chart: Chart) -> Drawing:
    """Draw a chart."""
    count = sum(map(len, chart.groups.values()))
    origin = chart.origin
    height = 40 + count * _BAR_HEIGHT + len(chart.groups) * (_GROUP_GAP + 20) + 16 * len(origin) + 10
    drawing = Drawing(_WIDTH, height, chart.title, chart.alternative)
    drawing.text(10, 22, chart.title, "title")
    longest = max(bar.p99 or bar.value for bars in chart.groups.values() for bar in bars)
    y = 34.0
    for name, bars in chart.groups.items():
        y += _GROUP_GAP + 6
        drawing.text(10, y, name, "small")
        y += 8
        for bar in bars:
            _draw_bar(drawing, bar, y, _BARS / longest)
            y += _BAR_HEIGHT
    for line in origin:
        y += 16
        drawing.text(10, y + 8, line, "small")
    return drawing


def write(runs: Sequence[BenchRun], folder: Path = FOLDER) -> None:
    """Write the charts as SVG."""
    folder.mkdir(exist_ok=True)
    for chart in charts(runs):
        (folder / f"{chart.name}.svg").write_text(str(draw(chart)))


def _draw_bar(drawing: Drawing, bar: Bar, y: float, scale: float) -> None:
    kind = "bar" if bar.is_ours else "other-bar"
    drawing.text(_NAMES - 8, y + 13, bar.name, "", "end")
    if bar.p99 is not None:
        drawing.rectangle(_NAMES, y + 6, bar.p99 * scale, 6, kind)
    drawing.rectangle(_NAMES, y + 2, max(bar.value * scale, 1), 14, kind)
    drawing.text(_NAMES + (bar.p99 or bar.value) * scale + 6, y + 13, bar.figures, "small")


def _of_distances(name: str, title: str, runs: Sequence[BenchRun], value: Callable[..., float | None]) -> Chart:
    groups: dict[str, list[Bar]] = {}
    measured: list[BenchRun] = []
    for run, line in _lines(runs, "network-read", "network-write"):
        ours, others = value(line.millrace), value(line.other)
        # What each has by default, and Spark's own as its users tune it
        if line.base in _OTHERS and line.unit == "records/s" and "same settings" not in line.work and ours and others:
            bars = groups.setdefault(line.work, [Bar(MILLRACE, ours, is_ours=True)])
            bars.append(Bar(line.base, others, is_ours=False))
            measured.append(run)
    return Chart(name, title, groups, _unique(measured))


def _latency(runs: Sequence[BenchRun]) -> Chart:
    """Return the chart of record to record, from the run that has measured it at most distances."""
    of_runs: dict[str, list[tuple[BenchRun, Line]]] = {}
    for run, line in _lines(runs, "network-latency"):
        if _P99 in line.millrace.beside:
            of_runs.setdefault(f"{run.date} {run.command}", []).append((run, line))
    most = max(of_runs.values(), key=len, default=[])
    groups: dict[str, dict[str, Bar]] = {}
    for _, line in most:
        work, _, distance = line.work.rpartition(", ")
        asynchronous = "asynchronous" in work
        bars = groups.setdefault(f"{work.partition(',')[0]}, {distance}", {})
        name = f"{MILLRACE}, asynchronous progress" if asynchronous else MILLRACE
        bars[name] = Bar(name, line.millrace.median, is_ours=True, p99=line.millrace.beside[_P99])
        if line.other is not None and line.base.startswith(SPARK):
            bars[line.base] = Bar(line.base, line.other.median, is_ours=False, p99=line.other.beside.get(_P99))
    title = "Milliseconds from record to record: median as a broad bar, 99th percentile as a thin one"
    bars_of = {name: list(bars.values()) for name, bars in groups.items()}
    return Chart("latency", title, bars_of, _unique(run for run, _ in most))


def _lines(runs: Iterable[BenchRun], *cases: str) -> Iterable[tuple[BenchRun, Line]]:
    return ((run, line) for run in runs for line in run.lines if line.case in cases and line.other is not None)


def _unique(runs: Iterable[BenchRun]) -> tuple[BenchRun, ...]:
    return tuple({(run.date, run.command): run for run in runs}.values())


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:,.1f}"
