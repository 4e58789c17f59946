"""Queries over streams of changes against the same queries over the tables that the changes leave.

Hypothesis generates 500 streams; all of them go through one query of Spark's, told apart by a column that is part of
every key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from millrace.contracts import ChangelogMode
from millrace_sql.errors import SqlError
from millrace_sql.planner import InputTable, Scan, SparkPlan, plan_query
from millrace_sql.script_texts import Identifier, SqlText
from support.streamed_changes import MICRO_BATCHES, Changes, Row, Run, change_streams, changes_of, input_table
from support.tiers import nightly_but

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STREAMS = 500


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> Changes:
    streams: list[list[list[Row]]] = []

    @settings(max_examples=STREAMS, database=None)
    @given(change_streams)
    def generate(stream: list[list[int]]) -> None:
        if len(streams) < STREAMS:
            streams.append(changes_of(len(streams), stream))

    while len(streams) < STREAMS:
        generate()
    merged = [[row for stream in streams for row in stream[number]] for number in range(MICRO_BATCHES)]
    return Changes(tmp_path_factory.mktemp("changes"), merged)


@pytest.fixture
def tables(spark: SparkSession) -> dict[str, InputTable]:
    values = input_table(spark, "t", Changes.schema, key=("stream", "id"), changelog_mode=ChangelogMode.ALL)
    names = input_table(spark, "names", "name STRING, title STRING, weight INT", key=("name",), is_static=True)
    return {"t": values, "names": names}


NAMES = [("a", "A", 1), ("b", "B", 2), (None, "nobody", 3)]


def _plan(sql: str, tables: Mapping[str, InputTable], *, keeps_results: bool = False) -> SparkPlan:
    def lookup(name: Identifier, _: object) -> InputTable:
        if name.parts[-1] not in tables:
            raise SqlError(f"there is no table {name}")
        return tables[name.parts[-1]]

    # Compared with what Spark makes of the text
    return plan_query(SqlText(sql), lookup, streaming=True, keeps_results=keeps_results, is_spark=True)


def _names(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(NAMES, "name STRING, title STRING, weight INT")


QUERIES = {
    "filter": "SELECT stream, id, name, v + 1 AS w FROM t WHERE v > 2",
    "sums": """SELECT stream, name, COUNT(*), COUNT(v), SUM(v) AS s, AVG(v), SUM(m), AVG(m), SUM(x), AVG(x) + 1,
        COUNT(*) FILTER (WHERE v > 2) AS f, SUM(v) FILTER (WHERE x > 2) FROM t GROUP BY stream, name""",
    "groups, filtered": """SELECT s, n, v FROM (SELECT stream AS s, name AS n, SUM(t.v) AS v FROM t WHERE x > 0
        GROUP BY 1, n HAVING COUNT(*) > 1 AND SUM(v) < 9) WHERE v > 2""",
    "kept values": """SELECT name, stream, MIN(v), MAX(v), COUNT(DISTINCT v), MIN(m), MAX(x), SUM(m), AVG(v), COUNT(*),
        ARRAY_JOIN(SORT_ARRAY(COLLECT_LIST(CAST(v AS STRING))), ','), SIZE(COLLECT_LIST(DISTINCT m)),
        ELEMENT_AT(SORT_ARRAY(COLLECT_LIST(STRUCT(x, v))), 1).x AS y,
        MAX(CAST(v AS STRING)), COUNT(DISTINCT v, x), MIN(make_date(2024, 1, 10 + v)) FROM t GROUP BY stream, name""",
    "distinct, of the other column": "SELECT DISTINCT stream, v FROM t WHERE id < 3",
    "union": "SELECT stream, v FROM t WHERE v > 3 UNION ALL SELECT stream, CAST(x AS INT) FROM t",
    "join": """SELECT t.stream, t.id, names.title, t.v FROM t JOIN names ON t.name = names.name
        WHERE t.v < names.weight + 2""",
    "join and group": """WITH j AS (SELECT t.stream, n.title, t.v * n.weight AS w FROM t LEFT JOIN names AS n
        ON t.name <=> n.name AND t.v > n.weight)
        SELECT stream, title, SUM(w), COUNT(*) FROM j GROUP BY stream, title""",
}


@pytest.fixture(autouse=True)
def _few_tasks(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", before)


@pytest.mark.parametrize("name", nightly_but(QUERIES, "groups, filtered", "join"))
def test_a_query_over_500_streams_of_changes_ends_as_over_the_final_table(
    name: str, spark: SparkSession, changes: Changes, tables: dict[str, InputTable], tmp_path: Path
) -> None:
    sql = QUERIES[name]
    plan = _plan(sql, tables)

    run = Run(spark, plan, lambda scan: changes.stream(spark) if scan.table is tables["t"] else _names(spark), tmp_path)

    changes.final(spark).createOrReplaceTempView("t")
    _names(spark).createOrReplaceTempView("names")
    expected = spark.sql(sql)
    assert run.table() == Counter(tuple(row) for row in expected.collect())
    assert [column for column in run.columns if column != "__row_kind"] == expected.columns
    assert len(run.batches) == MICRO_BATCHES
    assert {row[-1] for row in run.rows} <= plan.changelog_mode.row_kinds


@pytest.mark.parametrize("name", nightly_but(["sums", "groups, filtered", "kept values"], "groups, filtered"))
def test_old_results_take_back_what_a_stream_returned_before(
    name: str, spark: SparkSession, changes: Changes, tables: dict[str, InputTable], tmp_path: Path
) -> None:
    sql = QUERIES[name]
    plan = _plan(sql, tables, keeps_results=True)

    # Python keeps the groups of a few streams, one by one
    run = Run(spark, plan, lambda _: changes.stream(spark).where("stream < 60"), tmp_path)

    table: Counter[tuple] = Counter()
    for *values, kind in run.rows:
        table[tuple(values)] += -1 if kind in {"-U", "-D"} else 1
        assert table[tuple(values)] >= 0
    changes.final(spark).where("stream < 60").createOrReplaceTempView("t")
    assert +table == Counter(tuple(row) for row in spark.sql(sql).collect())
    assert {row[-1] for row in run.rows} <= plan.changelog_mode.row_kinds


COUNTED = "(SELECT stream, name, COUNT(*) AS n, SUM(v) AS s FROM t WHERE id < 3 GROUP BY stream, name)"
NUMBERED = """SELECT {} FROM (SELECT stream, id, name, v, m, ROW_NUMBER() OVER (PARTITION BY stream ORDER BY {}) AS rn
    FROM {}) WHERE rn {}"""

AFTER_STATE = {
    "counts of counts": f"SELECT stream, n, COUNT(*), SUM(s) FROM {COUNTED} GROUP BY stream, n",
    "the greatest count": f"SELECT stream, MAX(n), MIN(name), COUNT(DISTINCT s) FROM {COUNTED} GROUP BY stream",
    "distinct counts, filtered": f"SELECT DISTINCT n FROM {COUNTED} WHERE s > 2",
    "the first row": NUMBERED.format("stream, id, v, m", "v DESC, id", "t", "= 1"),
    "numbers": NUMBERED.format("*", "v NULLS LAST, id DESC", "t", "<= 2"),
    "the first two": NUMBERED.format("id, v", "m DESC NULLS FIRST, id", "t WHERE name IS NOT NULL", "< 3"),
    "the first group": f"""SELECT stream, name, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY stream
        ORDER BY n DESC, name) AS rn FROM {COUNTED}) WHERE rn = 1""",
    "sums of the first two": NUMBERED.format("stream, SUM(v), COUNT(*)", "v, id", "t", "<= 2") + " GROUP BY stream",
    "groups and rows": f"SELECT stream, n FROM {COUNTED} UNION ALL SELECT stream, v FROM t",
    "a join": """SELECT a.stream, a.id, b.id AS other, b.v FROM t AS a
        JOIN t AS b ON a.stream = b.stream AND a.v = b.v""",
    "a join in the old way": """SELECT a.stream, a.name, b.m, b.name FROM t AS a, t AS b
        WHERE a.stream = b.stream AND b.id = a.v AND a.x > 2""",
    "a left join": """SELECT a.stream, a.id, b.m, b.id FROM t AS a
        LEFT JOIN t AS b ON a.stream = b.stream AND a.v = b.id""",
    "a full join": """SELECT a.id, b.id AS other, b.x FROM (SELECT * FROM t WHERE v > 2) AS a
        FULL JOIN (SELECT * FROM t WHERE x > 2) AS b ON a.stream = b.stream AND a.name = b.name""",
    "a join with groups": f"""SELECT t.stream, t.id, g.n, g.s FROM t JOIN {COUNTED} AS g
        ON t.stream = g.stream AND t.name = g.name AND g.n < 3""",
    "groups of joined rows": """SELECT stream, n, MAX(w), COUNT(*) FROM (SELECT a.stream, b.name AS n, a.v * b.v AS w
        FROM t AS a RIGHT JOIN t AS b ON a.stream = b.stream AND a.v = b.id JOIN names ON b.name = names.name)
        GROUP BY stream, n""",
    "names of groups": f"SELECT g.stream, n.title, g.n FROM {COUNTED} AS g JOIN names AS n ON g.name = n.name",
}


@pytest.mark.parametrize("name", nightly_but(AFTER_STATE, "the greatest count", "sums of the first two"))
def test_what_reads_the_results_of_groups_and_first_rows_ends_as_over_the_final_table(
    name: str, spark: SparkSession, changes: Changes, tables: dict[str, InputTable], tmp_path: Path
) -> None:
    sql = AFTER_STATE[name]
    plan = _plan(sql, tables)

    # Python keeps the groups of a few streams, one by one
    def read(scan: Scan) -> DataFrame:
        return changes.stream(spark).where("stream < 20") if scan.table is tables["t"] else _names(spark)

    run = Run(spark, plan, read, tmp_path)

    changes.final(spark).where("stream < 20").createOrReplaceTempView("t")
    _names(spark).createOrReplaceTempView("names")
    assert run.table() == Counter(tuple(row) for row in spark.sql(sql).collect())
    assert {row[-1] for row in run.rows} <= plan.changelog_mode.row_kinds
