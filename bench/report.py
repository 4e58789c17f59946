"""Show results: as a table in the terminal, and as a page that is written from the file of results alone."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from bench import charts
from bench.measure import MILLRACE, SPARK
from bench.results import FILE, BenchRun, Figures, Line, load

PAGE = Path(__file__).with_name("RESULTS.md")

HEADLINES = (
    ("raw-read", "raw read, values only"),
    ("json-read", "typed JSON read, 7 columns"),
    ("json-write", "JSON write, 7 columns"),
    ("json-copy", "JSON from topic to topic, 7 columns"),
    ("exactly-once", "JSON write in micro-batches of 4 million records, exactly once"),
    ("micro-batch", "micro-batch at 400 records/s"),
    ("network-read", "typed JSON read, 10 ms away"),
    ("network-write", "JSON write, 10 ms away"),
    ("upsert-read", "upsert read with old rows, 7 columns, a stream"),
    ("pipeline", "pipeline of 100 tables, from debezium-json to no sink"),
)
"""The works of the lines on top, with the first comparison of each."""

GROUPS = ("Connectors", "Formats", "Upsert tables and SQL", "Over a network", "Pipelines")
"""The groups of the page, in order."""

_HEAD = ("work", "unit", SPARK, "min to max", MILLRACE, "min to max", "ratio", "target", "met", "details")

_READING = (
    "A ratio is millrace's median divided by the median of Spark's own connector, or of the named comparison: more is "
    "better for records/s, less for ms and s. Connectors alternate in one Spark session, with the same settings, on one"
    " broker. Memory is the resident memory of the largest Python worker. *Details* are figures of the comparison / of "
    "millrace; processor time is that of Spark's JVM and Python workers. All formats have the same records, with "
    "columns of seven types; half of Debezium's changes are updates, which give two rows each. *Read* is a whole read "
    "of a topic. *Decode* and *encode* are that work alone, per second of a core's time. *By hand* is the Python code "
    "that users write if Spark has no such function. *Tuned* is Spark's own connector with `batch.size` 1000000, "
    "`linger.ms` 5 and lz4. A proxy adds the distances, which are round trips."
)


def group_of(case: str) -> str:
    """Return the group of a case."""
    if case.startswith("network"):
        return "Over a network"
    if case in {"upsert-read", "upsert-write", "sql-insert"}:
        return "Upsert tables and SQL"
    if case == "pipeline":
        return "Pipelines"
    connectors = {"raw-read", "metadata-read", "compressed-read", "tls-read", "json-read", "arrow-read"}
    kind = case.rpartition("-")[2]
    return "Formats" if kind in {"decode", "encode", "bad", "read"} and case not in connectors else "Connectors"


def show(lines: Sequence[Line]) -> None:
    """Print the table; with rich where that is installed and there is a terminal."""
    rows = list(map(_cells, lines))
    if not (sys.stdout.isatty() and find_spec("rich")):
        print("\n".join(_markdown(_HEAD, rows)))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*_HEAD)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def page(runs: Sequence[BenchRun]) -> str:
    """Return the page ``RESULTS.md``."""
    lines = [line for run in runs for line in run.lines]
    aimed = [line for line in lines if line.is_met is not None]
    folded = (_group(name, runs) for name in GROUPS)
    return "\n".join(
        [
            "# Bench results",
            "",
            "Generated from `results.json`; `python -m bench --store` adds results to it. "
            f"{sum(bool(line.is_met) for line in aimed)} of {len(aimed)} targets are met.",
            "",
            *_headlines(lines),
            "",
            *(line for chart in charts.charts(runs) for line in (_image(chart), "")),
            _READING,
            *(line for group in folded for line in group),
        ]
    )


def write(runs: Sequence[BenchRun]) -> None:
    """Write the page and its charts."""
    charts.write(runs)
    PAGE.write_text(page(runs))


def _image(chart: charts.Chart) -> str:
    return f"![{chart.alternative}]({charts.FOLDER.name}/{chart.name}.svg)"


def _headlines(lines: Iterable[Line]) -> list[str]:
    by_key = {(line.case, line.work): line for line in reversed(list(lines))}
    rows = []
    for key in HEADLINES:
        if key in by_key:
            line = by_key[key]
            other = "" if line.other is None else f"{_figure(line.other.median)} ({line.base})"
            ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
            rows.append((line.work, line.unit, other, _figure(line.millrace.median), ratio, _target(line), _met(line)))
    return _markdown(("work", "unit", "compared with", MILLRACE, "ratio", "target", ""), rows)


def _group(name: str, runs: Sequence[BenchRun]) -> list[str]:
    measured = [(run, [line for line in run.lines if group_of(line.case) == name]) for run in runs]
    measured = [(run, lines) for run, lines in measured if lines]
    if not measured:
        return []
    tables = (line for run, lines in measured for line in _run(run, lines))
    missed = sum(line.is_met is False for _, lines in measured for line in lines)
    count = sum(len(lines) for _, lines in measured)
    summary = f"<summary>{count} lines, {missed or 'none'} not met</summary>"
    return ["", f"## {name}", "", "<details>", summary, *tables, "", "</details>", ""]


def _run(run: BenchRun, lines: Sequence[Line]) -> list[str]:
    machine = ", ".join(f"{name} {value}" for name, value in run.machine.items())
    note = f" {run.note}" if run.note else ""
    return [
        "",
        f"On {run.date}, by `{run.command}`.{note}",
        "",
        *_markdown(_HEAD, map(_cells, lines)),
        "",
        f"Machine: {machine}.",
    ]


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_row(head), _row(["---"] * len(head)), *map(_row, rows)]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(line: Line) -> tuple[str, ...]:
    return (
        line.work if line.base == SPARK else f"{line.work}, beside {line.base}",
        line.unit,
        *_figures(line.other),
        *_figures(line.millrace),
        "" if line.ratio is None else f"{line.ratio:.2f}",
        _target(line),
        {True: "yes", False: "no", None: ""}[line.is_met],
        _beside(line),
    )


def _met(line: Line) -> str:
    return {True: "met", False: "not met", None: ""}[line.is_met]


def _target(line: Line) -> str:
    if line.target is None:
        return ""
    value = f"{line.target:.2f}".removesuffix("0") if line.other else f"{_figure(line.target)} {line.unit}"
    return f"{'at most' if line.at_most else 'at least'} {value}"


def _beside(line: Line) -> str:
    """Return further figures: of the other, where there is one, and of millrace."""
    compared = [figures.beside for figures in (line.other, line.millrace) if figures is not None]
    return "; ".join(
        f"{what} {' / '.join(f'{_figure(beside[what])}' for beside in compared if what in beside)}"
        for what in line.millrace.beside
    )


def _figures(figures: Figures | None) -> tuple[str, str]:
    if figures is None:
        return "", ""
    return _figure(figures.median), f"{_figure(figures.least)} to {_figure(figures.most)}"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:,.2f}"


if __name__ == "__main__":
    write(load(FILE))
