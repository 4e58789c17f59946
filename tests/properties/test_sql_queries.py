"""Random queries over random changes leave the rows that the same query has as a batch over the table at the end."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql.types import DataType, DecimalType, DoubleType, IntegerType, StringType

from millrace.contracts import ChangelogMode
from millrace_sql.planner import InputColumn, InputTable, SparkPlan, plan_query
from millrace_sql.planner.model import Scan
from millrace_sql.script_texts import Identifier, SqlText
from support.random_queries import KINDS
from support.streamed_changes import MICRO_BATCHES, Changes, Run, changes_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STREAMS = 15
NAMES = [("a", "A", 1), ("b", "B", 2)]


def _table(name: str, key: tuple[str, ...], columns: dict[str, DataType], **more: Any) -> InputTable:
    fields = tuple(InputColumn(column, type_) for column, type_ in columns.items())
    return InputTable(Identifier(("cat", "db", name)), fields, key, **more)


_integer, _text = IntegerType(), StringType()
_values = {"stream": _integer, "id": _integer, "name": _text, "v": _integer, "m": DecimalType(10, 2), "x": DoubleType()}
TABLES = {
    "t": _table("t", ("stream", "id"), _values, changelog_mode=ChangelogMode.ALL),
    "names": _table("names", ("name",), {"name": _text, "title": _text, "weight": _integer}, is_static=True),
}


def _plan(query: str, *, streaming: bool) -> SparkPlan:
    return plan_query(SqlText(query), lambda name, _: TABLES[name.parts[-1]], streaming=streaming)


@given(st.one_of(*KINDS.values()))
def test_the_queries_of_the_grammar_are_planned_as_streams_and_batches(query: str) -> None:
    for streaming in (True, False):
        assert _plan(query, streaming=streaming).scans


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_leaves_the_rows_of_the_batch(spark: SparkSession, kind: str) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", "1")

    # All kinds together have the examples of the profile
    @settings(max_examples=-(-settings.default.max_examples // len(KINDS)))
    @given(KINDS[kind], st.integers(0, 2**32))
    def compare(query: str, seed: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            _compare(spark, query, _changes(Path(folder), seed))

    compare()


def _changes(folder: Path, seed: int) -> Changes:
    chosen = random.Random(seed)

    def operations() -> list[int]:
        return [chosen.randrange(4 * 6**4) for _ in range(chosen.randrange(6))]

    streams = [changes_of(number, [operations() for _ in range(MICRO_BATCHES)]) for number in range(STREAMS)]
    (folder / "changes").mkdir()
    merged = [[row for stream in streams for row in stream[number]] for number in range(MICRO_BATCHES)]
    return Changes(folder / "changes", merged)


def _compare(spark: SparkSession, query: str, changes: Changes) -> None:
    names = spark.createDataFrame(NAMES, "name STRING, title STRING, weight INT")
    final = changes.final(spark).selectExpr("*", "'+I' AS __row_kind")

    def read(scan: Scan) -> DataFrame:
        return names if scan.table.is_static else final

    def stream(scan: Scan) -> DataFrame:
        return names if scan.table.is_static else changes.stream(spark)

    expected = Counter(tuple(row) for row in _plan(query, streaming=False).execute(spark, read).collect())
    assert Run(spark, _plan(query, streaming=True), stream, changes.folder.parent).table() == expected
