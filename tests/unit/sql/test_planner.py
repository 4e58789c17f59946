"""Plans of queries: what Spark gets, the changes of each step, and what is refused."""

from __future__ import annotations

import re

import pytest

from millrace.contracts import ChangelogMode
from millrace_sql.errors import SqlError, SqlSyntaxError
from millrace_sql.planner import plan_query
from millrace_sql.script_texts import ScriptPosition, SqlText
from support.planned_sql import AS_BATCH, HINTS, follow, plan, resolve


def _sql(sql: str, *, streaming: bool = True) -> str:
    """Return what Spark gets, with the tables' own names instead of generated ones."""
    return re.sub(r"`millrace_[0-9a-f]+_(\w+)`", r"<\1>", plan(sql, streaming=streaming).sql)


# Texts


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select  name,v  from orders -- all", "select  name,v  from <orders> AS `orders` -- all"),
        ("SELECT o.v FROM cat.db.`orders` o", "SELECT o.v FROM <orders> o"),
        (
            "WITH c AS (SELECT * FROM orders) SELECT * FROM c WHERE id IN (SELECT id FROM names)",
            "WITH c AS (SELECT * FROM <orders> AS `orders`) SELECT * FROM c "
            "WHERE id IN (SELECT id FROM <names> AS `names`)",
        ),
        (
            "SELECT PROCTIME(), 'PROCTIME()' FROM orders",
            "SELECT current_timestamp(), 'PROCTIME()' FROM <orders> AS `orders`",
        ),
        (
            "SELECT CAST(v AS BYTES), CAST(v AS VARCHAR), TRY_CAST(name AS ROW<a INT>), "
            "CAST(name AS TIMESTAMP(3)) FROM orders",
            "SELECT CAST(v AS BINARY), CAST(v AS STRING), TRY_CAST(name AS STRUCT<a INT>), "
            "CAST(name AS TIMESTAMP_NTZ) FROM <orders> AS `orders`",
        ),
        (
            "SELECT CAST(name AS TIMESTAMP_LTZ(3)), CAST(name AS TIMESTAMP(3) WITH LOCAL TIME ZONE) FROM orders",
            "SELECT CAST(name AS TIMESTAMP), CAST(name AS TIMESTAMP) FROM <orders> AS `orders`",
        ),
        ("SELECT TO_TIMESTAMP_LTZ(id * 2, 3) FROM orders", "SELECT timestamp_millis(id * 2) FROM <orders> AS `orders`"),
        (
            "SELECT window_start FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) AS w",
            "SELECT window_start FROM (SELECT * EXCEPT (__window), __window.start AS window_start, "
            "__window.end AS window_end, window_time(__window) AS window_time "
            "FROM (SELECT *, window(ts, '5 minute') AS __window FROM <orders> AS `orders`)) AS w",
        ),
        ("TABLE plain", "SELECT * FROM <plain> AS `plain`"),
        ("SELECT id FROM (TABLE plain) AS t", "SELECT id FROM (SELECT * FROM <plain> AS `plain`) AS t"),
        (
            "TABLE plain UNION ALL TABLE plain",
            "SELECT * FROM <plain> AS `plain` UNION ALL SELECT * FROM <plain> AS `plain`",
        ),
        (
            "SELECT `table` FROM (SELECT id AS `table` FROM plain)",
            "SELECT `table` FROM (SELECT id AS `table` FROM <plain> AS `plain`)",
        ),
    ],
)
def test_spark_gets_the_users_text_but_for_what_it_spells_otherwise(query: str, expected: str) -> None:
    assert _sql(query) == expected


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("SELECT BOOL_AND(name <=> 'b') FROM users", "BOOL_AND(name IS NOT DISTINCT FROM 'b')"),
        ("SELECT id, MAX_BY(name <=> 'a', v) FROM users GROUP BY id", "MAX_BY(name IS NOT DISTINCT FROM 'a', v)"),
        ("SELECT name FROM users WHERE name SIMILAR TO name", "SIMILAR TO takes a pattern"),
    ],
)
def test_a_refusal_names_operators_as_they_are_written(query: str, written: str) -> None:
    with pytest.raises(SqlError, match=re.escape(written)) as caught:
        plan(query)

    assert "NULLSAFEEQ" not in str(caught.value).upper()
    assert "SIMILARTO" not in str(caught.value).upper()


@pytest.mark.parametrize("name", ["nullsafeeq", "similarto", "`NullSafeEQ`"])
def test_names_of_operators_are_names_of_columns_too(name: str) -> None:
    query = f"SELECT q.{name} FROM (SELECT id AS {name} FROM plain) AS q WHERE q.{name} > 1"

    assert _sql(query) == query.replace("plain", "<plain> AS `plain`")


def test_a_hint_is_handed_to_the_table_and_taken_off() -> None:
    HINTS.clear()

    text = _sql("SELECT * FROM orders /*+ OPTIONS('a.b' = 'it''s', 'c'='d') */ AS o")

    assert HINTS == [{"a.b": "it's", "c": "d"}]
    assert "OPTIONS" not in text


@pytest.mark.parametrize(
    ("query", "column"),
    [
        ("SELECT * FROM orders AS o /*+ OPTIONS('a' = 'b') */", 25),
        ("SELECT /*+ OPTIONS('a' = 'b') */ id FROM orders", 1),
        ("WITH c AS (TABLE plain) SELECT * FROM c /*+ OPTIONS('a' = 'b') */", 39),
        ("SELECT * FROM (SELECT * FROM orders) /*+ OPTIONS('a' = 'b') */ AS o", 36),
    ],
)
def test_a_hint_that_stands_at_no_table_is_refused(query: str, column: int) -> None:
    with pytest.raises(SqlError, match=r"write t /\*\+ OPTIONS\('key' = 'value'\) \*/ AS x") as caught:
        plan(query)

    assert caught.value.position == ScriptPosition(1, column)
    plan("SELECT * FROM orders /*+ OPTIONS('a' = 'b') */ AS o")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT v / 2, m / 2, v / x FROM users", "SELECT CAST(v DIV 2 AS INT), m / 2, v / x FROM <users> AS `users`"),
        (
            "SELECT q / 2 FROM (SELECT SUM(v) AS q FROM plain) AS s",
            "SELECT CAST(q DIV 2 AS BIGINT) FROM (SELECT SUM(v) AS q FROM <plain> AS `plain`) AS s",
        ),
        (
            "WITH w AS (SELECT v / 2 AS v FROM plain) SELECT v / 3 FROM w",
            "WITH w AS (SELECT CAST(v DIV 2 AS INT) AS v FROM <plain> AS `plain`) SELECT CAST(v DIV 3 AS INT) FROM w",
        ),
        (
            "SELECT AVG(v) FILTER (WHERE v > 1) / 2 FROM plain",
            "SELECT CAST(CAST(SUM(v) FILTER (WHERE v > 1) DIV COUNT(v) FILTER (WHERE v > 1) AS INT) DIV 2 AS INT) "
            "FROM <plain> AS `plain`",
        ),
        (
            "SELECT CASE WHEN v > 1 THEN v ELSE id END / 2 FROM plain",
            "SELECT CAST(CASE WHEN v > 1 THEN v ELSE id END DIV 2 AS BIGINT) FROM <plain> AS `plain`",
        ),
        ("SELECT CAST(v > 1 AS STRING) FROM plain", "SELECT upper(CAST(v > 1 AS STRING)) FROM <plain> AS `plain`"),
        (
            "SELECT LAST_VALUE(name), LAST_VALUE(v) RESPECT NULLS FROM plain",
            "SELECT last_value(name, true), LAST_VALUE(v) RESPECT NULLS FROM <plain> AS `plain`",
        ),
        ("SELECT MAP[0, v][0] FROM plain", "SELECT try_element_at(map(0, v), 0) FROM <plain> AS `plain`"),
        ("SELECT 'it''s' FROM plain", "SELECT 'it\\'s' FROM <plain> AS `plain`"),
        (
            "SELECT GREATEST(v, ARRAY[1, v][2]) FROM plain",
            "SELECT CASE WHEN (v) IS NULL OR (get(array(1, v), 1)) IS NULL THEN NULL "
            "ELSE greatest(v, get(array(1, v), 1)) END FROM <plain> AS `plain`",
        ),
    ],
)
def test_an_expression_means_what_it_means_in_flink(query: str, expected: str) -> None:
    assert _sql(query, streaming=False) == expected


def test_an_expression_means_what_it_means_in_spark_where_that_is_set() -> None:
    planned = plan_query(
        SqlText("SELECT v / 2, AVG(v), name[0], REGEXP_EXTRACT(name, 'a(b)') FROM plain"),
        resolve,
        streaming=False,
        is_spark=True,
    )

    assert planned.sql.startswith("SELECT v / 2, AVG(v), name[0], REGEXP_EXTRACT(name, 'a(b)') FROM ")


def test_json_value_is_null_for_objects() -> None:
    text = _sql("SELECT JSON_VALUE(name, 'lax $.a[0]' RETURNING INT) FROM orders")

    json = "to_json(try_variant_get(try_parse_json(name), '$.a[0]', 'variant'))"
    assert text.startswith(
        f"SELECT TRY_CAST((CASE WHEN {json} RLIKE '^[^{{\\\\[n]' THEN get_json_object(name, '$.a[0]')"
    )


def test_a_view_is_a_query_of_its_own_names() -> None:
    planned = plan("SELECT a.age FROM adults AS a", sink=ChangelogMode.ALL)

    assert "AS `adults`(`user`, `age`, `__row_kind`)) AS a" in planned.sql


# Changes


@pytest.mark.parametrize(
    ("query", "mode", "key", "old_rows"),
    [
        ("SELECT * FROM orders", "[I]", (), False),
        ("SELECT * FROM kept", "[I,UA,D]", ("id",), False),
        ("SELECT * FROM users", "[I,UB,UA,D]", ("id",), True),
        ("SELECT id AS k, v + 1 FROM kept", "[I,UA,D]", ("k",), False),
        ("SELECT id AS k, v + 1 FROM users", "[I,UB,UA,D]", ("k",), True),
        ("SELECT id, NOW() AS written FROM kept", "[I,UA,D]", ("id",), False),
        ("SELECT id, NOW() AS written FROM users", "[I,UB,UA,D]", ("id",), True),
        ("SELECT id, explode(array(v, 1)) FROM users", "[I,UB,UA,D]", (), True),
        ("SELECT date_trunc('HOUR', ts) AS h, SUM(v) FROM timed GROUP BY 1", "[I,UA,D]", ("h",), True),
        ("SELECT v, id FROM kept WHERE id > 3", "[I,UA,D]", ("id",), False),
        ("SELECT v, id FROM users WHERE id > 3", "[I,UB,UA,D]", ("id",), True),
        ("SELECT v, id FROM users WHERE v > 3", "[I,UB,UA,D]", ("id",), True),
        ("SELECT v FROM users", "[I,UB,UA,D]", (), True),
        ("SELECT * FROM log", "[I,UB,UA,D]", (), True),
        ("SELECT user FROM adults", "[I,UB,UA,D]", ("user",), True),
        ("SELECT name, COUNT(*) AS n FROM users GROUP BY name", "[I,UA,D]", ("name",), True),
        ("SELECT COUNT(*) FROM users", "[I,UA]", (), True),
        ("SELECT n + 1 FROM (SELECT COUNT(*) AS n FROM users)", "[I,UA]", (), True),
        ("SELECT n FROM (SELECT COUNT(*) AS n FROM orders) WHERE n > 3", "[I,UA,D]", (), False),
        ("SELECT ts, COUNT(*) FROM timed GROUP BY ts", "[I,UA,D]", ("ts",), True),
        ("SELECT name, MIN(v) FROM users GROUP BY name", "[I,UA,D]", ("name",), True),
        ("SELECT name, MIN(v) FROM orders GROUP BY name", "[I,UA]", ("name",), False),
        ("SELECT name, MIN(v) FROM orders GROUP BY name HAVING COUNT(*) < 3", "[I,UA,D]", ("name",), False),
        ("SELECT name, ARRAY_AGG(v) FROM orders GROUP BY name", "[I,UA]", ("name",), False),
        ("SELECT name, LISTAGG(name), LAST_VALUE(v) FROM users GROUP BY name", "[I,UA,D]", ("name",), True),
        ("SELECT DISTINCT name FROM orders", "[I]", ("name",), False),
        ("SELECT DISTINCT name FROM users", "[I,UA,D]", ("name",), True),
        ("SELECT users.id, title FROM users JOIN names ON users.name = names.name", "[I,UB,UA,D]", ("id",), True),
        ("SELECT users.id, title FROM users JOIN names ON users.v > 1", "[I,UB,UA,D]", (), True),
        ("SELECT id FROM users UNION ALL SELECT id FROM orders", "[I,UB,UA,D]", (), True),
        ("SELECT o.id FROM orders o JOIN users FOR SYSTEM_TIME AS OF PROCTIME() u ON o.id = u.id", "[I]", (), True),
        ("SELECT name, COUNT(*) FROM moving WHERE v > 1 GROUP BY name", "[I,UA,D]", ("name",), True),
        ("SELECT m.id, m.v, title FROM moving m JOIN names n ON m.name = n.name", "[I,UB,UA,D]", ("id",), True),
        ("SELECT window(ts, '1 hour').start, SUM(v) FROM orders GROUP BY window(ts, '1 hour')", "[I]", (), False),
    ],
)
def test_the_changes_of_a_query(query: str, mode: str, key: tuple[str, ...], old_rows: bool) -> None:
    planned = plan(query)

    assert (str(planned.changelog_mode), planned.upsert_key) == (mode, key)
    assert any(scan.needs_update_before for scan in planned.scans) is old_rows
    assert bool(planned.changelog_origin) is (mode != "[I]")


@pytest.mark.parametrize(
    "argument", ["CASE WHEN v > 1 THEN 1 ELSE v END", "LENGTH(name)", "COALESCE(v, 0)", "ABS(v)", "IF(v > 1, v, id)"]
)
def test_a_sum_of_integers_is_no_sum_of_floating_point_numbers(argument: str) -> None:
    for query in (
        "SELECT name, SUM({}) FROM users GROUP BY name",
        "SELECT name, SUM(s) FROM (SELECT name, {} AS s FROM users) GROUP BY name",
    ):
        assert "Infinity" not in plan(query.format(argument)).sql


def test_a_sum_of_an_unknown_type_is_refused() -> None:
    with pytest.raises(
        SqlError, match=r"the type of MY_FUNCTION\(v\) is not known .*: write SUM\(CAST\(\.\.\. AS BIGINT"
    ):
        plan("SELECT name, SUM(my_function(v)) FROM users GROUP BY name")
    assert plan("SELECT name, SUM(CAST(my_function(v) AS BIGINT)) FROM users GROUP BY name").scans


def test_rows_made_of_one_row_that_changes_need_its_old_results() -> None:
    made = plan("SELECT explode(array(n, 1)) FROM (SELECT COUNT(*) AS n FROM users)")
    assert (str(made.changelog_mode), made.upsert_key) == ("[I,UB,UA]", ())


def test_a_sink_of_all_changes_gets_old_rows() -> None:
    assert str(plan("SELECT * FROM users", sink=ChangelogMode.ALL).changelog_mode) == "[I,UB,UA,D]"


def test_a_batch_of_changes_is_a_plain_query_over_final_rows() -> None:
    planned = plan("SELECT v, COUNT(*) FROM users GROUP BY v ORDER BY v LIMIT 3", streaming=False)

    assert str(planned.changelog_mode) == "[I]"
    assert planned.scans[0].needs_update_before
    assert planned.sql.endswith("GROUP BY v ORDER BY v LIMIT 3")


def test_explain_shows_each_step_with_its_changes() -> None:
    query = "SELECT * FROM (SELECT name, SUM(v) AS s FROM users WHERE v > 1 GROUP BY name) WHERE s > 2"

    assert plan(query).explain().splitlines() == [
        "Calc(select=[*], where=[s > 2], changelogMode=[I,UA,D])",
        "+- GroupAggregate(groupBy=[name], select=[name, SUM(v)], changelogMode=[I,UA,D])",
        "   +- TableSourceScan(table=[[cat, db, users]], fields=[id, name, v, x, m, wide], changelogMode=[I,UB,UA,D])",
    ]


def test_explain_shows_both_sides_of_a_join() -> None:
    query = "SELECT o.id, u.v FROM orders o LEFT JOIN users FOR SYSTEM_TIME AS OF PROCTIME() AS u ON o.id = u.id"
    planned = plan(query)

    assert planned.runs_per_batch
    assert [line.partition("(")[0] for line in planned.explain().splitlines()] == [
        "Calc",
        "+- LookupJoin",
        "   :- TableSourceScan",
        "   +- LookupTable",
    ]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT id, ts FROM orders",
        "SELECT o.ts AS at, COUNT(*) FROM orders AS o GROUP BY at",
        "SELECT ts, MIN(v) FROM timed GROUP BY ts",
        "SELECT ts, SUM(v) FROM timed GROUP BY 1",
    ],
)
def test_no_late_rows_are_dropped_from_groups_of_a_column_with_a_watermark(query: str) -> None:
    planned = plan(query)

    grouped = planned.sql + "".join(stage.query.sql("spark") for stage in planned._stages)
    assert re.search(r"TIMESTAMP_MICROS\(UNIX_MICROS\((o\.)?`?ts`?\)\) AS __group[01]", grouped)


# Refusals


@pytest.mark.parametrize(
    ("query", "message", "works"),
    [
        (
            "SELECT name FROM users ORDER BY name",
            "a stream cannot be sorted: leave out ORDER BY",
            "SELECT name FROM users",
        ),
        (
            "SELECT id FROM users LIMIT 3",
            "LIMIT cannot be kept up to date",
            AS_BATCH,
        ),
        (
            "SELECT id, LAG(v) OVER (PARTITION BY v ORDER BY id) FROM users",
            r"LAG\(v\) OVER .* for each change",
            "SELECT v, MIN(id), MAX(v) FROM users GROUP BY v",
        ),
        (
            "SELECT id FROM users WHERE v > RAND()",
            r"a filter by RAND\(\) .* could keep a row and not its deletion",
            "SELECT id FROM users WHERE v > 1",
        ),
        (
            "SELECT UUID() AS id, v FROM users",
            r"UUID\(\) returns something else for an old row of .*users",
            "SELECT id, v FROM users",
        ),
        (
            "SELECT id FROM (SELECT id, NOW() AS n FROM users) AS u WHERE n > ts",
            "could keep a row and not its deletion",
            "SELECT id FROM (SELECT id, v AS n FROM users) AS u WHERE n > 1",
        ),
        (
            "SELECT name, SUM(v * RAND()) FROM users GROUP BY name",
            r"RAND\(\) returns something else when a row is taken",
            "SELECT name, SUM(v) FROM users GROUP BY name",
        ),
        (
            "SELECT name, SUM(r) FROM (SELECT name, RAND() AS r FROM users) GROUP BY name",
            "something else for an old row",
            "SELECT name, SUM(r) FROM (SELECT name, v AS r FROM users) GROUP BY name",
        ),
        (
            "SELECT name, SUM(r) FROM (SELECT id, name, RAND() AS r FROM users) GROUP BY name",
            r"r AS RAND\(\) returns something else when a row is taken",
            "SELECT name, SUM(r) FROM (SELECT id, name, v AS r FROM users) GROUP BY name",
        ),
        (
            "SELECT v, proc FROM moving",
            r"CURRENT_TIMESTAMP\(\) returns something else for an old row",
            "SELECT v FROM moving",
        ),
        (
            "SELECT id FROM moving WHERE proc > ts",
            r"a filter by proc AS CURRENT_TIMESTAMP\(\) over",
            "SELECT id FROM moving WHERE v > 1",
        ),
        (
            "SELECT DISTINCT proc FROM moving",
            r"proc AS CURRENT_TIMESTAMP\(\) returns something else when a row is taken",
            "SELECT DISTINCT name FROM moving",
        ),
        (
            "SELECT m.id FROM moving m JOIN names n ON m.name = n.name AND m.proc > n.title",
            "could join a row and not its deletion",
            "SELECT m.id FROM moving m JOIN names n ON m.name = n.name AND m.name > n.title",
        ),
        (
            "SELECT id FROM users TABLESAMPLE (10 PERCENT)",
            "leave out TABLESAMPLE",
            "SELECT id FROM users",
        ),
        (
            "SELECT id FROM users WHERE name IN (SELECT name FROM names)",
            "write LEFT SEMI JOIN for IN and EXISTS",
            "SELECT id FROM users LEFT SEMI JOIN names ON users.name = names.name",
        ),
        (
            "SELECT u.id FROM users u JOIN (SELECT * FROM names) ON true",
            r"such as \(SELECT ...\) AS t",
            "SELECT u.id FROM users u JOIN (SELECT * FROM names) AS n ON true",
        ),
        (
            "SELECT name, MAX_BY(v, id) FROM users GROUP BY name",
            r"MAX_BY\(v, id\) over the changes of .*users",
            "SELECT name, MAX(v) FROM users GROUP BY name",
        ),
        (
            "SELECT name, SUM(DISTINCT v) FROM users GROUP BY name",
            "use COUNT, SUM, AVG",
            "SELECT name, COUNT(DISTINCT v) FROM users GROUP BY name",
        ),
        (
            "SELECT name, AVG(abs(m)) FROM users GROUP BY name",
            r"write AVG\(CAST\(... AS DOUBLE\)\)",
            "SELECT name, AVG(CAST(abs(m) AS DOUBLE)) FROM users GROUP BY name",
        ),
        (
            "SELECT name, AVG(wide) FROM users GROUP BY name",
            r"AVG of DECIMAL\(38,2\) is not exact",
            "SELECT name, AVG(CAST(wide AS DECIMAL(28, 2))) FROM users GROUP BY name",
        ),
        (
            "SELECT name, v FROM users GROUP BY name",
            "v is neither in GROUP BY nor within an aggregate",
            "SELECT name, MIN(v) FROM users GROUP BY name",
        ),
        (
            "SELECT name, COUNT(*) FROM users GROUP BY ROLLUP (name)",
            "GROUPING SETS, ROLLUP and CUBE",
            "SELECT name, COUNT(*) FROM users GROUP BY name UNION ALL SELECT 'all', COUNT(*) FROM users",
        ),
        (
            "SELECT * FROM names LEFT JOIN users ON users.name = names.name",
            "a LEFT JOIN keeps rows of the table",
            "SELECT * FROM names JOIN users ON users.name = names.name",
        ),
        (
            "SELECT id FROM users EXCEPT SELECT id FROM log",
            "EXCEPT of streams would need all of their rows",
            AS_BATCH,
        ),
        (
            "SELECT id FROM orders WHERE id IN (SELECT id FROM users)",
            "cannot read the changes of .*users.*: write a JOIN",
            "SELECT orders.id FROM orders JOIN users ON orders.id = users.id",
        ),
        (
            "SELECT v, COUNT(*) FROM orders JOIN users FOR SYSTEM_TIME AS OF PROCTIME() u USING (id) GROUP BY u.v",
            "would count within each micro-batch: write the joined rows to a table of their own",
            "SELECT v, COUNT(*) FROM plain GROUP BY v",
        ),
        (
            "SELECT window(ts, '1 hour'), SUM(v) FROM plain GROUP BY window(ts, '1 hour')",
            "declare WATERMARK FOR",
            "SELECT window(ts, '1 hour'), SUM(v) FROM orders GROUP BY window(ts, '1 hour')",
        ),
        (
            "SELECT window_start FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY))",
            "write GROUP BY window_",
            "SELECT window_start FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP "
            "BY window_start, window_end",
        ),
        (
            "SELECT COUNT(*) FROM TABLE(SESSION(TABLE orders PARTITION BY id, DESCRIPTOR(ts), INTERVAL '1' DAY)) "
            "GROUP BY window_start, window_end",
            "write GROUP BY window_start, window_end, id",
            "SELECT COUNT(*) FROM TABLE(SESSION(TABLE orders PARTITION BY id, DESCRIPTOR(ts), INTERVAL '1' "
            "DAY)) GROUP BY window_start, window_end, id",
        ),
        (
            "SELECT COUNT(*) FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY)) "
            "GROUP BY window_start, window_end, id",
            "write GROUP BY window_start, window_end, the",
            "SELECT COUNT(*) FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY "
            "window_start, window_end",
        ),
        (
            "SELECT name, COUNT(*) FROM (SELECT name, window_end FROM "
            "TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, name) "
            "GROUP BY name",
            "a group of windows would go on after they are over, .* group by windows of window_time",
            "WITH w AS (SELECT name, window_time AS rt FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), "
            "INTERVAL '1' HOUR)) GROUP BY window_start, window_end, window_time, name) SELECT name, COUNT(*) "
            "FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(rt), INTERVAL '1' DAY)) GROUP BY window_start, "
            "window_end, name",
        ),
        (
            "SELECT name, STDDEV(v), LISTAGG(name) FROM orders GROUP BY name",
            r"STDDEV\(v\) cannot be computed beside",
            "SELECT name, AVG(v), LISTAGG(name) FROM orders GROUP BY name",
        ),
        (
            "SELECT name, MAX_BY(v, id) FROM users GROUP BY name",
            r"LISTAGG, ARRAY_AGG, FIRST_VALUE or LAST_VALUE",
            "SELECT name, LAST_VALUE(v) FROM users GROUP BY name",
        ),
        (
            "SELECT * FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' HOUR, INTERVAL '1' DAY))",
            "1 day, is no multiple of the step, 5 hour",
            "SELECT * FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '6' HOUR, INTERVAL '1' DAY))",
        ),
        (
            "SELECT * FROM TABLE(TUMBLE(TABLE orders PARTITION BY id, DESCRIPTOR(ts), INTERVAL '1' DAY))",
            "TUMBLE has no",
            "SELECT id, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY "
            "window_start, window_end, id",
        ),
        (
            "SELECT window_start FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY))",
            "slide, size",
            "SELECT window_start FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY))",
        ),
        (
            "SELECT * FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '0' HOUR, INTERVAL '1' DAY))",
            "CUMULATE: the step is 0; write an interval above it",
            "SELECT * FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '1' DAY))",
        ),
        (
            "SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '00' DAY))",
            "TUMBLE: the size is 0",
            "SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTES))",
        ),
        (
            "SELECT TUMBLE_START(ts, INTERVAL '1' DAY) FROM orders",
            r"it belongs to GROUP BY TUMBLE\(ts, \.\.\.\)",
            "SELECT TUMBLE_START(ts, INTERVAL '1' DAY) FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' DAY)",
        ),
        (
            "SELECT JSON_VALUE(name, '$.*') FROM orders",
            "no exact counterpart",
            "SELECT JSON_VALUE(name, '$.name') FROM orders",
        ),
        (
            "SELECT id / hash(name) FROM orders",
            r"write id DIV hash\(name\) for a quotient of integers",
            "SELECT id DIV hash(name) FROM orders",
        ),
        (
            "SELECT AVG(hash(name)) FROM orders",
            r"write SUM\(hash\(name\)\) DIV COUNT",
            "SELECT SUM(hash(name)) DIV COUNT(hash(name)) FROM orders",
        ),
        (
            "SELECT name[0] FROM orders",
            "arrays are counted from 1",
            "SELECT name[1] FROM orders",
        ),
        (
            "SELECT name SIMILAR TO name FROM orders",
            "SIMILAR TO takes a pattern that is a text",
            "SELECT name RLIKE name FROM orders",
        ),
    ],
)
def test_what_would_not_be_exact_is_refused_with_what_to_do(query: str, message: str, works: str) -> None:
    with pytest.raises(SqlError, match=f"(?s){message}"):
        plan(query)

    follow(works, query)


@pytest.mark.parametrize(
    ("query", "line", "column"),
    [
        ("SELECT id\nFROM nothing", 2, 6),
        ("SELECT CAST(id AS BYTES), PROCTIME()\nFROM orders AS o, nothing", 2, 19),
        ("SELECT id,\n  CAST(name AS RAW)\nFROM orders", 2, 16),
        ("SELECT id FRM orders", 1, 15),
        ("SELECT (id FROM orders", 1, 12),
        ("SELECT id FROM orders /*+ OPTIONS(a=b) */", 1, 23),
    ],
)
def test_an_error_has_its_place_in_the_script(query: str, line: int, column: int) -> None:
    with pytest.raises(SqlError) as caught:
        plan(query)

    assert caught.value.position == ScriptPosition(line, column)


@pytest.mark.parametrize("query", ["SELEC id FROM orders", "SELECT 'abc", "SELECT (id FROM orders", "SELECT /* abc"])
def test_what_is_no_query_is_a_syntax_error(query: str) -> None:
    with pytest.raises(SqlSyntaxError):
        plan(query)


@pytest.mark.parametrize("depth", [1_000, 3_000])
def test_a_query_that_is_nested_too_deeply_gets_an_error_of_one_sentence(depth: int) -> None:
    with pytest.raises(SqlSyntaxError, match="nested too deeply to be parsed: make views of its inner queries"):
        plan(f"SELECT {'(' * depth}id{')' * depth} FROM orders")


def test_the_place_counts_from_where_the_query_begins_in_the_script() -> None:
    with pytest.raises(SqlError) as caught:
        plan_query(SqlText("SELECT *\nFROM a, nothing", ScriptPosition(7, 20)), resolve, streaming=True)

    assert caught.value.position == ScriptPosition(8, 6)
