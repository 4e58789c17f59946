"""Cost of decoding alone, with messages in memory: no broker, and no rows between Python and the JVM."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bench import in_worker
from bench.cpu import cpu_seconds_of
from bench.data import SUMS_OF_TOTALS, TOTALS, TOTALS_SCHEMA
from bench.formats import format_case
from bench.formats.case import ByHand, FormatCase, InSpark
from bench.measure import MILLRACE, Bench, Result, SameAnswer, alternate
from bench.pool import TASKS, Pool
from bench.schema_registry import SchemaRegistry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

UNIT = "records/s of a core"


def run(bench: Bench, name: str) -> list[Result]:
    """Measure the decoding of a format."""
    with SchemaRegistry() as registry, tempfile.TemporaryDirectory() as folder:
        case = format_case(name, registry, Path(folder))
        pool = Pool(bench, case, Path(folder, "messages.parquet"))
        return [*_beside_spark(bench, case, pool), *_beside_hand(bench, case, pool)]


def _beside_spark(bench: Bench, case: FormatCase, pool: Pool) -> list[Result]:
    offer, work, answer = case.in_spark, f"decode {case.name}", SameAnswer()
    if offer is None:
        return []
    with pool.values() as values, pool.cached(offer.rows(_one_pass(bench, pool))) as rows:
        contestants = {
            offer.reads: lambda: pool.records / _added(offer, values, rows, answer),
            MILLRACE: lambda: pool.records / in_python(bench, case, pool, answer),
        }
        series = alternate(bench, work, contestants)
    return [Result(work, UNIT, series[MILLRACE], series[offer.reads], case.decode_target, base=offer.reads)]


def _beside_hand(bench: Bench, case: FormatCase, pool: Pool) -> list[Result]:
    by_hand, work, answer = case.by_hand, f"decode {case.name}", SameAnswer()
    if by_hand is None:
        return []
    contestants = {
        by_hand.name: lambda: pool.records / _by_hand(bench, by_hand, pool, answer),
        MILLRACE: lambda: pool.records / in_python(bench, case, pool, answer),
    }
    series = alternate(bench, work, contestants)
    return [Result(work, UNIT, series[MILLRACE], series[by_hand.name], case.decode_target, base=by_hand.name)]


def _added(offer: InSpark, values: DataFrame, rows: DataFrame, answer: SameAnswer) -> float:
    """Measure the seconds that an aggregation of messages takes beyond an aggregation of their rows."""
    with_decoding = cpu_seconds_of(lambda: answer.check(_totals(offer.rows(values))))
    without = cpu_seconds_of(lambda: answer.check(_totals(rows)))
    return with_decoding - without


def in_python(bench: Bench, case: FormatCase, pool: Pool, answer: SameAnswer | None = None) -> float:
    """Measure the seconds that millrace's decoder takes for the messages of a pool."""
    schema = case.arrow_schema
    return _worked(bench, pool, answer, lambda spent: in_worker.decoding(case.plugin, schema, str(pool.file), spent))


def _by_hand(bench: Bench, by_hand: ByHand, pool: Pool, answer: SameAnswer) -> float:
    return _worked(bench, pool, answer, lambda spent: in_worker.reading_by_hand(by_hand, str(pool.file), spent))


def _worked(bench: Bench, pool: Pool, answer: SameAnswer | None, work: Callable[[object], in_worker.Work]) -> float:
    spent = bench.spark.sparkContext.accumulator(0.0)
    parts = pool.tasks().mapInArrow(work(spent), TOTALS_SCHEMA)
    totals = parts.selectExpr(*SUMS_OF_TOTALS).collect()[0]
    if answer is not None:
        answer.check(totals)
    return float(spent.value)


def _one_pass(bench: Bench, pool: Pool) -> DataFrame:
    return bench.spark.read.parquet(str(pool.file)).repartition(TASKS)


def _totals(rows: DataFrame) -> object:
    return rows.selectExpr(*TOTALS).collect()[0]
