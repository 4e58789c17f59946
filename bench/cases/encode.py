"""Cost of encoding alone: rows in memory become messages, without a broker."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bench import in_worker
from bench.cases.decode import UNIT
from bench.cpu import cpu_seconds_of
from bench.data import ONE_TOTAL
from bench.formats import format_case
from bench.formats.case import ByHand, FormatCase, InSpark
from bench.measure import MILLRACE, Bench, Result, alternate
from bench.pool import Pool
from bench.schema_registry import SchemaRegistry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TARGET = 2


def run(bench: Bench, name: str) -> list[Result]:
    """Measure the encoding of a format."""
    with SchemaRegistry() as registry, tempfile.TemporaryDirectory() as folder:
        case = format_case(name, registry, Path(folder))
        pool = Pool(bench, case, Path(folder, "messages.parquet"))
        return [*_beside_spark(bench, case, pool), *_beside_hand(bench, case, pool)]


def _beside_spark(bench: Bench, case: FormatCase, pool: Pool) -> list[Result]:
    offer, work = case.in_spark, f"encode {case.name}"
    if offer is None:
        return []
    with pool.rows() as rows:
        contestants = {
            offer.writes: lambda: pool.records / _added(offer, rows),
            MILLRACE: lambda: pool.records / _in_python(bench, case, pool),
        }
        series = alternate(bench, work, contestants)
    return [Result(work, UNIT, series[MILLRACE], series[offer.writes], TARGET, base=offer.writes)]


def _beside_hand(bench: Bench, case: FormatCase, pool: Pool) -> list[Result]:
    by_hand, work = case.by_hand, f"encode {case.name}"
    if by_hand is None:
        return []
    contestants = {
        by_hand.name: lambda: pool.records / _by_hand(bench, by_hand, pool),
        MILLRACE: lambda: pool.records / _in_python(bench, case, pool),
    }
    series = alternate(bench, work, contestants)
    return [Result(work, UNIT, series[MILLRACE], series[by_hand.name], TARGET, base=by_hand.name)]


def _added(offer: InSpark, rows: DataFrame) -> float:
    """Measure the seconds that encoding rows takes beyond reading each of their columns."""
    messages = rows.select(offer.value().alias("value")).selectExpr("sum(octet_length(value))")
    with_encoding = cpu_seconds_of(messages.collect)
    without = cpu_seconds_of(rows.selectExpr(ONE_TOTAL).collect)
    return with_encoding - without


def _in_python(bench: Bench, case: FormatCase, pool: Pool) -> float:
    schema, file = case.arrow_schema, str(pool.rows_file)
    return _worked(bench, pool, lambda spent: in_worker.encoding(case.plugin, schema, file, spent))


def _by_hand(bench: Bench, by_hand: ByHand, pool: Pool) -> float:
    return _worked(bench, pool, lambda spent: in_worker.writing_by_hand(by_hand, str(pool.rows_file), spent))


def _worked(bench: Bench, pool: Pool, work: Callable[[object], in_worker.Work]) -> float:
    spent = bench.spark.sparkContext.accumulator(0.0)
    pool.tasks().mapInArrow(work(spent), "size BIGINT").selectExpr("sum(size)").collect()
    return float(spent.value)
