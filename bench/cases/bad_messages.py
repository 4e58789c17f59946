"""Cost of one malformed message in 10,000 for the others: in decoding alone, and in a whole read."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.cases.decode import UNIT, in_python
from bench.cases.format_read import PARTITIONS, millrace_rows
from bench.cpu import cpu_seconds_of
from bench.data import TOTALS
from bench.formats import format_case
from bench.formats.case import FormatCase
from bench.measure import MILLRACE, Bench, Result, alternate
from bench.pool import Pool, with_bad
from bench.schema_registry import SchemaRegistry

WITHOUT = "the same without bad messages"
TARGET = 0.9


def run(bench: Bench, name: str) -> list[Result]:
    """Measure a format with malformed messages."""
    with SchemaRegistry() as registry, tempfile.TemporaryDirectory() as folder:
        case = format_case(name, registry, Path(folder))
        return [_decode(bench, case, Path(folder)), _read(bench, case)]


def _decode(bench: Bench, case: FormatCase, folder: Path) -> Result:
    clean = Pool(bench, case, folder / "clean.parquet")
    dirty = Pool(bench, case, folder / "dirty.parquet", has_bad=True)
    work = f"decode {case.name}, 1 bad message in 10,000"
    contestants = {
        WITHOUT: lambda: clean.records / in_python(bench, case, clean),
        MILLRACE: lambda: dirty.records / in_python(bench, case, dirty),
    }
    series = alternate(bench, work, contestants)
    return Result(work, UNIT, series[MILLRACE], series[WITHOUT], TARGET, base=WITHOUT)


def _read(bench: Bench, case: FormatCase) -> Result:
    work = f"read {case.name}, 1 bad message in 10,000"

    def dirty_messages(start: int, stop: int) -> list[bytes]:
        return with_bad(case, case.messages(start, stop), start)

    def speed(topic: str) -> float:
        rows = millrace_rows(bench, case, topic, case.lenient)
        return bench.records / cpu_seconds_of(lambda: rows.selectExpr(*TOTALS).collect())

    with (
        bench.topics.of(case.name, PARTITIONS, case.messages) as clean,
        bench.topics.of(case.name, PARTITIONS, dirty_messages) as dirty,
    ):
        series = alternate(bench, work, {WITHOUT: lambda: speed(clean), MILLRACE: lambda: speed(dirty)})
    return Result(work, UNIT, series[MILLRACE], series[WITHOUT], TARGET, base=WITHOUT)
