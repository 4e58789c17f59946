"""Queries that Spark runs: joins with a table's current rows, windows, batches of changes, and texts kept faithful."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from millrace.contracts import ChangelogMode
from millrace_sql.errors import SqlError
from millrace_sql.planner import InputColumn, InputTable, Scan, SparkPlan, lookups, plan_query
from millrace_sql.planner.model import ChangingTable
from millrace_sql.script_texts import Identifier, SqlText
from support.waiting import PATIENCE_S

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDERS = "id INT, user INT, v INT, ts TIMESTAMP, doc STRING"
USERS = "user INT, name STRING"


@pytest.fixture(autouse=True)
def _few_tasks(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", before)


def _table(spark: SparkSession, name: str, schema: str, **more: Any) -> InputTable:
    fields = spark.createDataFrame([], schema).schema.fields
    columns = tuple(InputColumn(field.name, field.dataType, True, field.name == "ts") for field in fields)
    return InputTable(Identifier(("cat", "db", name)), columns, **more)


@pytest.fixture
def tables(spark: SparkSession) -> dict[str, InputTable]:
    return {
        "orders": _table(spark, "orders", ORDERS),
        "users": _table(spark, "users", USERS, primary_key=("user",), changelog_mode=ChangelogMode.ALL),
    }


def _plan(tables: dict[str, InputTable], sql: str, *, streaming: bool = True, is_spark: bool = False) -> SparkPlan:
    return plan_query(SqlText(sql), lambda name, _: tables[name.parts[-1]], streaming=streaming, is_spark=is_spark)


def _write(folder: Path, number: int, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / f"{number:03}.json"
    file.write_text("\n".join(map(json.dumps, rows)))
    os.utime(file, (1e9 + number, 1e9 + number))  # Spark reads the oldest first


def _stream(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema(ORDERS).option("maxFilesPerTrigger", 1).json(str(folder))


def _run(plan: SparkPlan, rows: DataFrame, checkpoint: Path, each: Callable[[DataFrame, int], None]) -> None:
    writer = rows.writeStream.outputMode(plan.output_mode).option("checkpointLocation", str(checkpoint))
    query = writer.foreachBatch(each).trigger(availableNow=True).start()
    try:
        assert query.awaitTermination(PATIENCE_S)
    finally:
        query.stop()


def test_a_stream_sees_a_tables_rows_as_of_the_micro_batch_also_when_it_is_repeated(
    spark: SparkSession, tables: dict[str, InputTable], tmp_path: Path
) -> None:
    changes = [(1, "ann", "+I"), (2, "bob", "+I"), (1, "ann", "-U"), (1, "anna", "+U")]
    sql = (
        "SELECT o.id, u.name FROM orders AS o LEFT JOIN users FOR SYSTEM_TIME AS OF PROCTIME() AS u ON o.user = u.user"
    )
    plan = _plan(tables, sql)
    for number in range(3):
        _write(tmp_path / "orders", number, [{"id": number * 10 + user, "user": user} for user in (1, 2, 3)])

    def read(scan: Scan) -> DataFrame:
        if scan.is_lookup:
            assert scan.needs_update_before
            return spark.createDataFrame(changes, f"{USERS}, __row_kind STRING")
        return _stream(spark, tmp_path / "orders")

    seen: list[list[tuple]] = []

    def each(batch: DataFrame, number: int) -> None:
        first = sorted(map(tuple, plan.apply_to_batch(batch, number).collect()))
        changes.extend([(2, "bob", "-D"), (3, "eve", "+I")] if number == 0 else [])
        # The table has changed, and the micro-batch runs a second time
        seen.append(sorted(map(tuple, plan.apply_to_batch(batch, number).collect())))
        assert seen[-1] == first

    _run(plan, plan.execute(spark, read, str(tmp_path / "state")), tmp_path / "checkpoint", each)

    assert seen == [
        [(1, "anna"), (2, "bob"), (3, None)],
        [(11, "anna"), (12, None), (13, "eve")],
        [(21, "anna"), (22, None), (23, "eve")],
    ]


class ChangingUsers(ChangingTable):
    """A table whose changes are read by their numbers; `read` has the ranges that were read."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.log: list[tuple[int, str | None]] = []
        self.read: list[tuple[int, int]] = []

    def table(self) -> dict[int, str]:
        return {user: name for user, name in dict(self.log).items() if name is not None}

    def changes(self, spark: SparkSession, since: str | None) -> DataFrame:
        start = int(since or 0)
        self.read.append((start, len(self.log)))
        last = {user: (user, name, number) for number, (user, name) in enumerate(self.log) if number >= start}
        rows = spark.createDataFrame(list(last.values()), f"{USERS}, __number INT")
        return rows.selectExpr("*", "IF(name IS NULL, '-D', '+U') AS __row_kind")

    def changes_end(self, changes: DataFrame, since: str | None) -> tuple[str | None, int]:
        numbers = [row["__number"] for row in changes.collect()]
        return (str(max(numbers) + 1) if numbers else since), len(numbers)

    def rows(self, kept: DataFrame) -> DataFrame:
        return kept.select("user", "name")


@pytest.mark.nightly
def test_of_a_table_with_positions_a_micro_batch_reads_what_is_new(
    spark: SparkSession, tables: dict[str, InputTable], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = ChangingUsers(spark)
    scan = Scan("current_users", replace(tables["users"], changing=users), needs_update_before=True, is_lookup=True)
    # A snapshot after three changed rows, or two micro-batches
    monkeypatch.setattr(lookups, "MIN_CHANGED_ROWS", 3)
    monkeypatch.setattr(lookups, "MAX_CHANGES", 2)
    added = [[(1, "a"), (2, "b"), (3, None)], [(2, None), (4, "d")], [], [(1, "z"), (2, "b")], [(5, "e"), (1, None)]]

    def seen(batch_id: int) -> dict[int, str]:
        # Each run of the query has an object of its own
        current = lookups.CurrentRows(scan, str(tmp_path), 0)
        current.view(spark, lambda: pytest.fail("the table has positions"), batch_id)
        return {row.user: row["name"] for row in spark.table("current_users").collect()}

    expected = []
    for batch_id, changes in enumerate(added):
        users.log += changes
        expected.append(users.table())
        assert seen(batch_id) == expected[-1]
        # It is repeated, while the table has changed
        users.log.append((9, f"name {batch_id}"))
        assert seen(batch_id) == expected[-1]

    ends = [end for _, end in users.read]
    assert users.read == list(zip([0, *ends[:-1]], ends, strict=True))
    assert len(users.read) == len(added)
    # An older checkpoint, of which no version is left
    assert seen(9) == users.table()
    assert users.read[-1] == (0, len(users.log))


def test_a_join_with_current_rows_needs_a_folder_for_them(spark: SparkSession, tables: dict[str, InputTable]) -> None:
    plan = _plan(tables, "SELECT o.id FROM orders o JOIN users FOR SYSTEM_TIME AS OF PROCTIME() u ON o.user = u.user")

    with pytest.raises(SqlError, match="needs a checkpoint folder"):
        plan.execute(spark, lambda _: pytest.fail("nothing is read"))


def test_changes_are_joined_with_the_rows_that_a_table_had_when_the_query_first_started(
    spark: SparkSession, tables: dict[str, InputTable], tmp_path: Path
) -> None:
    titles = _table(spark, "titles", "name STRING, title STRING", primary_key=("name",), is_static=True)
    sql = "SELECT title, COUNT(*) AS n FROM users JOIN titles ON users.name = titles.name GROUP BY title"
    plan = _plan({**tables, "titles": titles}, sql)
    changes = [[("ann", "+I"), ("bob", "+I")], [("ann", "-D")]]
    found: dict[str, int] = {}

    def keep(batch: DataFrame, _: int) -> None:
        found.update((row.title, 0 if row["__row_kind"] == "-D" else row.n) for row in batch.collect())

    def start(title: str, state: str | None) -> DataFrame:
        stream = spark.readStream.schema(f"{USERS}, __row_kind STRING").json(str(tmp_path / "users"))
        table = spark.createDataFrame([("ann", title), ("bob", "clerk")], "name STRING, title STRING")
        return plan.execute(spark, lambda scan: table if scan.table is titles else stream, state)

    for number, rows in enumerate(changes):
        _write(tmp_path / "users", number, [{"user": 1, "name": name, "__row_kind": kind} for name, kind in rows])
        # Ann's title is another one when her row is deleted
        _run(plan, start(f"title {number}", str(tmp_path / "state")), tmp_path / "checkpoint", keep)

    assert found == {"title 0": 0, "clerk": 1}
    with pytest.raises(
        SqlError, match=r"a join of changes with 'titles' needs a checkpoint folder, .* INSERT the result"
    ):
        start("title", None)


def test_windows_come_when_they_are_over(spark: SparkSession, tables: dict[str, InputTable], tmp_path: Path) -> None:
    sql = """SELECT window_start, window_end, user, COUNT(DISTINCT v) AS n
        FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTES))
        GROUP BY window_start, window_end, user"""
    plan = _plan(tables, sql)
    for number, minutes in enumerate([(1, 2, 3), (11, 12), (31,), (32,)]):
        rows = [{"user": 1, "v": minute % 2, "ts": f"2024-01-01T10:{minute:02}:00"} for minute in minutes]
        _write(tmp_path / "orders", number, rows)
    seen: list[tuple] = []
    rows = plan.execute(spark, lambda _: _stream(spark, tmp_path / "orders").withWatermark("ts", "0 seconds"))

    _run(plan, rows, tmp_path / "checkpoint", lambda batch, _: seen.extend(map(tuple, batch.collect())))

    assert plan.output_mode == "append"
    assert [(f"{start:%H:%M}", f"{end:%H:%M}", user, n) for start, end, user, n in sorted(seen)] == [
        ("10:00", "10:10", 1, 2),
        ("10:10", "10:20", 1, 2),
    ]


def test_late_rows_are_part_of_groups_that_are_no_windows(
    spark: SparkSession, tables: dict[str, InputTable], tmp_path: Path
) -> None:
    plan = _plan(tables, "SELECT DISTINCT user, ts FROM orders")
    for number, hour in enumerate((10, 20, 9, 20)):
        _write(tmp_path / "orders", number, [{"user": 1, "ts": f"2024-01-01T{hour:02}:00:00"}])
    rows = plan.execute(spark, lambda _: _stream(spark, tmp_path / "orders").withWatermark("ts", "0 seconds"))
    seen: list[int] = []

    _run(plan, rows, tmp_path / "checkpoint", lambda batch, _: seen.extend(row.ts.hour for row in batch.collect()))

    assert seen == [10, 20, 9]


def test_a_batch_of_changes_is_folded_into_rows(spark: SparkSession, tables: dict[str, InputTable]) -> None:
    added = [(1, "a", "+I"), (1, "a", "+I"), (2, "b", "+I"), (2, "c", "+U"), (3, "d", "+I")]
    changes = [(2, "b", "-U"), (3, "d", "-D"), *added]
    plan = _plan(tables, "SELECT name, COUNT(*) AS n FROM users GROUP BY name ORDER BY name", streaming=False)

    rows = plan.execute(spark, lambda _: spark.createDataFrame(changes, f"{USERS}, __row_kind STRING"))

    assert [tuple(row) for row in rows.collect()] == [("a", 2), ("c", 1)]


def test_metadata_does_not_tell_an_old_row_from_the_row_that_it_was(spark: SparkSession) -> None:
    schema = "id INT, name STRING, at INT, `from` MAP<STRING, STRING>, twice INT"
    users = _table(spark, "users", schema, changelog_mode=ChangelogMode.ALL)
    physical = {"id", "name"}
    users = replace(users, columns=tuple(replace(each, is_physical=each.name in physical) for each in users.columns))
    log = [
        (1, "a", "+I"),
        (2, "b", "+I"),
        (1, "a", "-U"),
        (1, "z", "+U"),
        (2, "b", "-D"),
        (1, "z", "-U"),
        (1, "a", "+U"),
    ]
    changes = [
        (id_, name, at, {"at": str(at)}, 2 * at, kind)
        for at, (id_, name, kind) in enumerate([*log, (3, "c", "+I")] * 2)
    ]
    plan = _plan({"users": users}, "SELECT * FROM users", streaming=False)

    rows = plan.execute(spark, lambda _: spark.createDataFrame(changes, f"{schema}, __row_kind STRING"))

    assert sorted(map(tuple, rows.collect()), key=lambda row: row[2]) == [
        (id_, name, at, {"at": str(at)}, 2 * at)
        for id_, name, at in [(3, "c", 7), (1, "a", 8), (1, "a", 14), (3, "c", 15)]
    ]


DOCUMENTS = [
    ('{"a": "x"}', "x"),
    ('{"a": 1.5}', "1.5"),
    ('{"a": true}', "true"),
    ('{"a": 7}', "7"),
    ('{"a": null}', None),
    ('{"a": {"b": 1}}', None),
    ('{"a": [1]}', None),
    ('{"a": "[1]"}', "[1]"),
    ('{"a": "{}"}', "{}"),
    ('{"b": 1}', None),
    ("not json", None),
    (None, None),
]


def test_json_value_returns_scalars_only(spark: SparkSession, tables: dict[str, InputTable]) -> None:
    sql = "SELECT id, JSON_VALUE(doc, '$.a'), JSON_VALUE(doc, '$.a' RETURNING INT) FROM orders"
    plan = _plan(tables, sql, streaming=False)
    documents = spark.createDataFrame([(n, doc) for n, (doc, _) in enumerate(DOCUMENTS)], "id INT, doc STRING")
    rows = documents.selectExpr("id", "1 AS user", "2 AS v", "current_timestamp() AS ts", "doc")

    result = sorted(map(tuple, plan.execute(spark, lambda _: rows).collect()))

    assert [value for _, value, _ in result] == [value for _, value in DOCUMENTS]
    assert {number for _, _, number in result} == {None, 7}


FAITHFUL = [
    "SELECT id, v / 2, v DIV 2, -v % 3, CAST(v AS DECIMAL(10, 3)) * 1.10, 1L + v, 2.5BD, 1e3 FROM orders",
    "SELECT date_add(to_date('2024-02-28'), v), datediff(ts, DATE'2024-01-01'), date_trunc('HOUR', ts) FROM orders",
    "SELECT ts + INTERVAL '1' DAY, ts - INTERVAL 3 HOURS, date_format(ts, 'yyyy-MM-dd HH:mm'), year(ts) FROM orders",
    "SELECT element_at(split(doc, ','), 1), substring(doc, 2, 3), doc LIKE '%a%', doc RLIKE 'a\\\\d' FROM orders",
    "SELECT transform(array(v, 2), x -> x + 1), filter(array(v, id), x -> x > 1), map('a', v)['a'] FROM orders",
    "SELECT named_struct('a', v, 'b', id).b, struct(v AS x, id).x, nvl(doc, 'none'), coalesce(doc, 'x') FROM orders",
    "SELECT CASE v WHEN 1 THEN 'one' ELSE 'many' END, IF(v > 1, 'a', 'b'), v BETWEEN 1 AND 3, v <=> NULL FROM orders",
    "SELECT get_json_object(doc, '$.a'), from_json(doc, 'a STRING').a, 'it\\'s', \"text\", 'a' || doc FROM orders",
    "SELECT hash(id), md5(doc), round(v / 3, 2), log(10, v + 1), pow(v, 2), greatest(v, id), pmod(v, 3) FROM orders",
    "SELECT TO_JSON(STRUCT(*)), HASH(*), XXHASH64(o.*), STRUCT(* EXCEPT (doc)) FROM orders AS o WHERE HASH(*) <> 1",
    "SELECT e FROM orders LATERAL VIEW explode(array(v, id)) x AS e WHERE e IN (1, 2, 3)",
]


@pytest.mark.parametrize("sql", FAITHFUL)
def test_a_query_that_is_written_anew_means_the_same_to_spark(sql: str, spark: SparkSession) -> None:
    """The changes of a table make the planner write the query by sqlglot; each row is an insertion, to compare."""
    values = "(1, 1, 7, TIMESTAMP'2024-05-06 07:08:09', '{\"a\": 1}'), (2, 2, NULL, NULL, 'a1,b')"
    rows = spark.sql(f"SELECT * FROM VALUES {values} AS t(id, user, v, ts, doc)")
    kinds = rows.selectExpr("*", "'+I' AS __row_kind")
    orders = _table(spark, "orders", ORDERS, changelog_mode=ChangelogMode.ALL)
    plan = _plan({"orders": orders}, sql, is_spark=True)

    result = plan.execute(spark, lambda _: kinds)

    rows.createOrReplaceTempView("orders")
    expected = spark.sql(sql)
    assert result.drop("__row_kind").schema.simpleString() == expected.schema.simpleString()
    assert Counter(map(str, result.drop("__row_kind").collect())) == Counter(map(str, expected.collect()))


def test_sparks_own_errors_come_in_one_sentence(spark: SparkSession, tables: dict[str, InputTable]) -> None:
    with pytest.raises(SqlError, match="nothing") as caught:
        _plan(tables, "SELECT nothing FROM users").execute(spark, lambda _: pytest.fail("nothing is read"))

    assert "\n" not in str(caught.value)
    assert "millrace_" not in str(caught.value)
