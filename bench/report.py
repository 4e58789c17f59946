"""Show results: as a table in the terminal, and as a page."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec

from bench.measure import MILLRACE, SPARK, Bench, Result, Series

_HEAD = ("work", "unit", SPARK, "min to max", MILLRACE, "min to max", "ratio", "target", "met", "beside it")


def show(results: Sequence[Result]) -> None:
    """Print the table; with rich where that is installed and there is a terminal."""
    rows = [_cells(result) for result in results]
    if not (sys.stdout.isatty() and find_spec("rich")):
        print("\n".join(_markdown(rows)))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*_HEAD)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def page(results: Sequence[Result], environment: Mapping[str, str], bench: Bench) -> str:
    """Return the page ``RESULTS.md``."""
    lines = [
        "# Bench results",
        "",
        f"Written by `tox -e bench` on {datetime.now(UTC):%Y-%m-%d}: {bench.records:,} JSON records of 120 bytes. "
        "Both connectors run in one Spark session with the same settings, on one broker, by turns, with their default "
        f"options; {bench.warm_ups} warm-ups and {bench.runs} runs of each. A run of micro-batches is the median of "
        f"{bench.batches}. A ratio is millrace's median over that of Spark's own connector, or of what is named: more "
        "is better for records/s, less for ms and s. Memory is the resident memory of the largest Python worker. "
        "Figures *beside it* are of Spark's own connector, or of what is named, / of millrace.",
        "",
        "Formats have the same records, with columns of seven types; of Debezium's changes half are updates, which are "
        "two rows each. *Read* is a whole read of a topic, by the clock. *Decode* and *encode* are that work alone, "
        "with messages or rows in memory, per second of a core's time: for millrace what its decoder or encoder takes "
        "in Spark's Python workers, for Spark what an aggregation takes more with it than without. Neither holds the "
        "way of rows between Python and the JVM, as a read or write does. What is compared with is named; *by hand* is "
        "Python that one writes where Spark has nothing, or where its jar could not be fetched.",
        "",
        *_markdown([_cells(result) for result in results]),
        "",
        "| measured on | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in environment.items()),
        "",
    ]
    return "\n".join(lines)


def _markdown(rows: Iterable[Sequence[str]]) -> list[str]:
    return [_line(_HEAD), _line(["---"] * len(_HEAD)), *map(_line, rows)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(result: Result) -> tuple[str, ...]:
    return (
        result.work if result.base == SPARK else f"{result.work}, beside {result.base}",
        result.unit,
        *_series(result.spark),
        *_series(result.millrace),
        "" if result.ratio is None else f"{result.ratio:.2f}",
        _target(result),
        {True: "yes", False: "no", None: ""}[result.is_met],
        _beside(result),
    )


def _target(result: Result) -> str:
    if result.target is None:
        return ""
    value = f"{result.target:.2f}".removesuffix("0") if result.spark else f"{result.target:.0f} {result.unit}"
    return f"{'at most' if result.at_most else 'at least'} {value}"


def _beside(result: Result) -> str:
    """Return further figures: of the other connector, where there is one, and of millrace."""
    compared = [series.beside for series in (result.spark, result.millrace) if series is not None]
    return "; ".join(
        f"{what} {' / '.join(f'{statistics.median(beside[what]):,.1f}' for beside in compared if what in beside)}"
        for what in result.millrace.beside
    )


def _series(series: Series | None) -> tuple[str, str]:
    if series is None:
        return "", ""
    return _figure(series.median), f"{_figure(min(series.values))} to {_figure(max(series.values))}"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:,.1f}"
