"""Clauses of the reference that Spark spells otherwise: UNNEST, the older windows, JSON, UNION and units of time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from pyspark.sql.types import (
    ArrayType,
    DateType,
    DoubleType,
    IntegerType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from millrace.contracts import ChangelogMode
from millrace_sql.errors import SqlError
from millrace_sql.planner import InputColumn, InputTable, SparkPlan, plan_query
from millrace_sql.script_texts import Identifier, ScriptPosition, SqlText

COLUMNS = {
    "id": IntegerType(),
    "doc": StringType(),
    "x": DoubleType(),
    "day": DateType(),
    "ts": TimestampType(),
    "at": TimestampNTZType(),
    "tags": ArrayType(StringType()),
    "lines": ArrayType(StructType().add("sku", StringType()).add("qty", IntegerType())),
    "props": MapType(StringType(), IntegerType()),
    "ship": StructType().add("sizes", ArrayType(IntegerType())),
}
ROWS = InputTable(
    Identifier(("c", "d", "t")),
    tuple(InputColumn(name, type_, is_event_time=name == "ts") for name, type_ in COLUMNS.items()),
)
CHANGES = replace(ROWS, identifier=Identifier(("c", "d", "u")), primary_key=("id",), changelog_mode=ChangelogMode.ALL)
LINES = "INLINE(filter(lines, __element -> __element IS NOT NULL))"
TUMBLE = (
    "(SELECT * EXCEPT (__window), __window.start AS window_start, __window.end AS window_end, "
    "window_time(__window) AS window_time FROM (SELECT *, window({}, '1 minute') AS __window FROM {}))"
)


def _table(name: Identifier, _: Mapping[str, str]) -> InputTable:
    if name.parts[-1] not in {"t", "u"}:
        raise SqlError(f"no table {name}")
    return ROWS if name.parts[-1] == "t" else CHANGES


def plan(sql: str, *, streaming: bool = True, is_spark: bool = False) -> SparkPlan:
    return plan_query(
        SqlText(sql, ScriptPosition(1, 1)),
        _table,
        streaming=streaming,
        sink_mode=ChangelogMode.UPSERT,
        is_spark=is_spark,
    )


def planned(sql: str, **more: bool) -> str:
    return re.sub(r"`millrace_\w{12}_(\w)`", r"<\1>", " ".join(plan(sql, **more).sql.split()))


@pytest.mark.parametrize(
    ("join", "view"),
    [
        ("CROSS JOIN UNNEST(tags) AS s (tag)", "LATERAL VIEW EXPLODE(tags) s AS tag"),
        (", UNNEST(tags) AS s (tag)", "LATERAL VIEW EXPLODE(tags) s AS tag"),
        ("INNER JOIN UNNEST(tags) AS s (tag) ON TRUE", "LATERAL VIEW EXPLODE(tags) s AS tag"),
        ("LEFT JOIN UNNEST(tags) AS s (tag) ON TRUE", "LATERAL VIEW OUTER EXPLODE(tags) s AS tag"),
        ("CROSS JOIN UNNEST(lines) AS l (s, q)", f"LATERAL VIEW {LINES} l AS s, q"),
        ("CROSS JOIN UNNEST(lines) AS l", f"LATERAL VIEW {LINES} l AS `sku`, `qty`"),
        ("CROSS JOIN UNNEST(props) AS p (k, v)", "LATERAL VIEW EXPLODE(props) p AS k, v"),
        (
            "CROSS JOIN UNNEST(tags) WITH ORDINALITY AS s (tag, n)",
            "LATERAL VIEW INLINE(transform(tags, (__element, __number) -> named_struct('c0', __element, 'c1', "
            "__number + 1))) s AS tag, n",
        ),
        (
            "CROSS JOIN UNNEST(t.ship.sizes) AS s (size) CROSS JOIN UNNEST(tags) AS r (tag)",
            "LATERAL VIEW EXPLODE(t.ship.sizes) s AS size LATERAL VIEW EXPLODE(tags) r AS tag",
        ),
    ],
)
@pytest.mark.parametrize("dialect", ["flink", "spark"])
def test_unnest_is_a_lateral_view(join: str, view: str, dialect: str) -> None:
    assert planned(f"SELECT id FROM t {join}", is_spark=dialect == "spark") == f"SELECT id FROM <t> AS `t` {view}"


def test_the_columns_of_unnest_have_types() -> None:
    assert "CAST(q DIV 2 AS INT)" in planned("SELECT q / 2 FROM t CROSS JOIN UNNEST(lines) AS l (s, q)")


def test_changes_are_passed_on_for_each_element() -> None:
    changes = plan("SELECT id, tag FROM u CROSS JOIN UNNEST(tags) AS s (tag)")

    assert (str(changes.changelog_mode), changes.upsert_key) == ("[I,UB,UA,D]", ())
    assert changes.scans[0].needs_update_before


def test_stars_have_the_columns_of_unnest() -> None:
    grouped = planned("SELECT DISTINCT * FROM (SELECT l.* FROM u CROSS JOIN UNNEST(lines) AS l (s, q)) AS m")

    assert grouped.startswith("SELECT __group0 AS `s`, __group1 AS `q`, CASE")


@pytest.mark.parametrize(
    ("join", "message"),
    [
        ("JOIN UNNEST(tags) AS s (tag) ON tag = doc", "takes ON TRUE: write other conditions into WHERE"),
        ("JOIN UNNEST(tags) AS s (tag)", r"is written JOIN UNNEST\(...\) AS t \(x\) ON TRUE"),
        (
            "CROSS JOIN UNNEST(tags) AS s (tag) JOIN u ON u.id = t.id",
            "write UNNEST behind them, or in a query of its own",
        ),
        ("CROSS JOIN UNNEST(tags, tags) AS s (a, b)", "UNNEST takes one array or map"),
        ("CROSS JOIN UNNEST(lines) AS l (s)", "has 2 columns, and 1 names"),
        ("CROSS JOIN UNNEST(split(doc, 'x')) AS s (tag)", r"UNNEST\(CAST\(split\(doc, 'x'\) AS ARRAY<type>\)\)"),
        ("CROSS JOIN LATERAL TABLE(f(doc)) AS s (tag)", "is no call of a table function: CREATE FUNCTION"),
    ],
)
def test_what_spark_cannot_unnest_is_refused_with_what_to_write(join: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        plan(f"SELECT id FROM t {join}")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT tag FROM t JOIN u ON u.id = t.id CROSS JOIN UNNEST(t.tags) AS s (tag)",
        "SELECT v.tag FROM (SELECT id, tag FROM t CROSS JOIN UNNEST(tags) AS s (tag)) AS v JOIN u ON u.id = v.id",
        "SELECT tag FROM t CROSS JOIN UNNEST(CAST(split(doc, 'x') AS ARRAY<STRING>)) AS s (tag)",
        "SELECT tag FROM t JOIN UNNEST(tags) AS s (tag) ON TRUE WHERE tag = doc",
    ],
)
def test_the_advice_on_unnest_works(query: str) -> None:
    assert "LATERAL VIEW" in planned(query, streaming=False)


def test_the_older_windows_are_those_of_the_table_functions() -> None:
    size = "INTERVAL '1' MINUTE"
    older = planned(
        f"SELECT doc, TUMBLE_END(ts, {size}), COUNT(*) FROM t WHERE id > 1 GROUP BY doc, TUMBLE(ts, {size})"
    )

    source = f"{TUMBLE.format('ts', '<t> AS `t`')} AS t"
    end = "WHERE id > 1 GROUP BY doc, window_start, window_time, window_end"
    assert older == f"SELECT doc, window_end, COUNT(*) FROM {source} {end}"


def test_an_older_window_of_a_table_with_another_name() -> None:
    size = "interval  '1' minute"
    older = planned(
        f"SELECT TUMBLE_START(v.ts, INTERVAL '1' MINUTE) AS s FROM c.d.t AS v GROUP BY TUMBLE(v.ts, {size})"
    )

    source = f"{TUMBLE.format('v.ts', '<t> AS v')} AS v"
    assert older == f"SELECT window_start AS s FROM {source} GROUP BY window_start, window_time, window_end"


def test_an_older_session_is_one_of_sparks() -> None:
    gap = "INTERVAL '30' SECOND"
    older = planned(
        f"SELECT doc, SESSION_START(ts, {gap}), SESSION_END(ts, {gap}) FROM t GROUP BY doc, SESSION(ts, {gap})"
    )

    grouped = "GROUP BY doc, session_window(ts, '30 second')"
    assert older == f"SELECT doc, session_window.start, session_window.end FROM <t> AS `t` {grouped}"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT TUMBLE_START(ts, INTERVAL '2' DAY) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' DAY)",
            r"it belongs to GROUP BY TUMBLE\(ts, ...\), which takes the same arguments",
        ),
        (
            "SELECT 1 FROM t JOIN u ON t.id = u.id GROUP BY TUMBLE(t.ts, INTERVAL '1' DAY)",
            r"make a query of the joins, as in FROM \(SELECT ... FROM a JOIN b ON ...\) AS t",
        ),
        ("SELECT 1 FROM t GROUP BY TUMBLE(ts, INTERVAL '1' DAY), HOP(ts, x, y)", "one window, not TUMBLE and HOP"),
        ("SELECT 1 FROM t GROUP BY SESSION(ts)", r"SESSION is written SESSION\(ts, INTERVAL '5' MINUTE\)"),
        ("SELECT 1 FROM t GROUP BY TUMBLE(ts, 5)", "'5' is no interval of a window"),
    ],
)
def test_older_windows_without_a_counterpart_are_refused(query: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        plan(query)


def test_the_advice_on_older_windows_works() -> None:
    joined = "(SELECT t.* FROM t JOIN u ON t.id = u.id) AS v"
    query = f"SELECT TUMBLE_START(ts, INTERVAL '1' DAY) FROM {joined} GROUP BY TUMBLE(ts, INTERVAL '1' DAY)"

    assert "window_start" in planned(query, streaming=False)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("JSON_VALUE(doc, '$.a' DEFAULT 'x')", "expected ON EMPTY or ON ERROR"),
        ("JSON_VALUE(doc)", r"is written JSON_VALUE\(text, 'path'\)"),
        ("JSON_VALUE(doc, '$.*')", "no exact counterpart in Spark"),
        ("JSON_VALUE(doc, '$.a' RETURNING DATE)", r"write CAST\(JSON_VALUE\(x, path\) AS type\)"),
        ("JSON_QUERY(doc, '$.a' DEFAULT 'x' ON ERROR)", "expected one of NULL, EMPTY ARRAY, EMPTY OBJECT"),
        ("JSON_EXISTS(doc, '$.a' NULL ON ERROR)", "expected one of TRUE, FALSE, UNKNOWN"),
        ("JSON_OBJECT(doc VALUE 1)", "with texts as names"),
        ("JSON_STRING(ts)", r"write CAST\(ts AS STRING\)"),
        ("doc || 'x' IS JSON", r"write \(a \|\| b\) IS JSON"),
        ("FLOOR(ts TO DECADE)", "expected one of SECOND, MINUTE"),
        ("FLOOR(doc TO HOUR)", r"as in FLOOR\(CAST\(doc AS TIMESTAMP\(3\)\) TO HOUR\)"),
        ("CEIL(day TO DAY)", "CEIL of a DATE takes WEEK, MONTH, QUARTER, YEAR"),
        ("TRUNCATE(hash(doc), 1)", r"write TRUNCATE\(CAST\(hash\(doc\) AS type\)\)"),
        ("TRUNCATE(x, id)", "takes a whole number of digits"),
    ],
)
def test_calls_without_a_counterpart_are_refused(expression: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        plan(f"SELECT {expression} FROM t")


@pytest.mark.parametrize(
    "expression",
    [
        "CAST(JSON_VALUE(doc, '$.a') AS DATE)",
        "JSON_STRING(CAST(ts AS STRING))",
        "(doc || 'x') IS JSON",
        "FLOOR(CAST(doc AS TIMESTAMP(3)) TO HOUR)",
        "TRUNCATE(CAST(hash(doc) AS INT), 1)",
        "from_json(JSON_QUERY(doc, '$.a'), 'ARRAY<STRING>')",
    ],
)
def test_the_advice_on_calls_works(expression: str) -> None:
    plan(f"SELECT {expression} FROM t")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT doc FROM t UNION SELECT tags[1] FROM t",
        "SELECT doc FROM t UNION SELECT tags[1] FROM t UNION SELECT tags[2] FROM t",
        "WITH a AS (SELECT doc FROM t UNION SELECT tags[1] FROM t) SELECT * FROM a",
    ],
)
def test_a_union_of_streams_has_each_row_once(query: str) -> None:
    union = plan(query)

    assert (str(union.changelog_mode), union.upsert_key, union.output_mode) == ("[I]", ("doc",), "update")
    assert "UNION ALL" in union.sql


def test_a_union_with_rows_that_are_no_stream_is_refused() -> None:
    with pytest.raises(SqlError, match=r"Spark would read them in each micro-batch; write them to a topic first"):
        plan("SELECT doc FROM t UNION SELECT 'new'")


def test_a_union_of_changes_takes_rows_away_again() -> None:
    assert str(plan("SELECT id FROM u UNION SELECT id FROM t").changelog_mode) == "[I,UA,D]"


def test_a_union_of_a_batch_is_sparks_own() -> None:
    query = "SELECT doc FROM t UNION SELECT doc FROM t"
    assert planned(query, streaming=False) == query.replace("FROM t", "FROM <t> AS `t`")


def test_over_in_a_stream_is_refused_with_what_works() -> None:
    over = "SUM(x) OVER (PARTITION BY id ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)"

    with pytest.raises(SqlError, match=r"OVER would need the rows of a stream in their order: group by a window"):
        plan(f"SELECT id, {over} FROM t")
    assert "OVER (" in planned(f"SELECT id, {over} FROM t", streaming=False)
    hop = "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '1' HOUR))"
    assert plan(f"SELECT id, window_end, SUM(x) FROM {hop} GROUP BY id, window_start, window_end").has_windows
