"""ROW_NUMBER() in streams, whose first numbers a query around it keeps."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from millrace_sql.errors import SqlError
from millrace_sql.planner.rank_stages import NumberedStage, RankStage, _by_number, _by_row, _Direction, _Limits, _update
from support.planned_sql import plan

NUMBERED = "SELECT {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS rn FROM {}) AS r WHERE {}"
TUMBLE = "TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTES))"


@pytest.mark.parametrize(
    ("columns", "key", "order", "table", "condition", "mode", "upsert_key"),
    [
        # Of inserted rows, Spark keeps the first one
        ("name, id", "name", "ts", "orders", "rn = 1", "[I,UA]", ("name",)),
        ("name, id", "name", "ts DESC, id DESC", "orders", "r.rn <= 1", "[I,UA]", ("name",)),
        ("id, v", "id", "proc DESC", "clocked", "1 = rn", "[I,UA]", ("id",)),
        # The first that comes stays
        ("id, v", "id", "proc", "clocked", "rn < 2 AND v > 3", "[I]", ("id",)),
        ("id, v", "id", "PROCTIME()", "plain", "rn = 1", "[I]", ("id",)),
        # Python keeps all else
        ("name, id, rn", "name", "ts, id DESC", "orders", "rn = 1", "[I,UB,UA]", ("name",)),
        ("id", "name", "ts", "orders", "rn = 1", "[I,UB,UA]", ()),
        ("*", "name", "v", "orders", "rn <= 3", "[I,UB,UA]", ("name", "rn")),
        ("name, id", "name", "v", "orders", "3 >= rn", "[I,D]", ()),
        ("name, id", "name", "v", "users", "rn = 1", "[I,UB,UA,D]", ("name",)),
        ("name, id", "name", "v", "kept", "rn <= 3", "[I,D]", ("id",)),
        ("name, rn", "name", "v", "users", "rn BETWEEN 2 AND 3", "[I,UB,UA,D]", ("name", "rn")),
        ("name, v", "name", "v", "users", "rn > 1 AND rn < 3", "[I,UB,UA,D]", ("name",)),
        # A window is numbered when it is over
        ("id, rn", "window_start, window_end, name", "v DESC", TUMBLE, "rn <= 2", "[I]", ()),
    ],
)
def test_a_stream_of_first_rows_has_the_kinds_and_the_key_of_its_rows(
    columns: str, key: str, order: str, table: str, condition: str, mode: str, upsert_key: tuple[str, ...]
) -> None:
    planned = plan(NUMBERED.format(columns, key, order, table, condition))

    assert (str(planned.changelog_mode), planned.upsert_key) == (mode, upsert_key)
    kept = any(isinstance(stage, RankStage) for stage in planned._stages)
    assert kept is (("[I,U" in mode and mode != "[I,UA]") or "D" in mode)
    assert planned.output_mode == ("append" if kept or table is TUMBLE else "update")


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        # Rows that are equal: the first that came, but the last one of the last rows by a time
        ("v", "MIN_BY({}, STRUCT(__order0 AS __order0, UNIX_MICROS(__now) AS __micros, __sequence AS __sequence))"),
        ("v DESC", "MAX_BY({}, STRUCT(__order0 AS __order0, -UNIX_MICROS(__now) AS __micros, -__sequence AS __seq"),
        ("ts", "MIN_BY({}, STRUCT(__order0 AS __order0, UNIX_MICROS(__now) AS __micros, __sequence AS __sequence))"),
        ("ts DESC", "MAX_BY({}, STRUCT(__order0 AS __order0, UNIX_MICROS(__now) AS __micros, __sequence AS __seq"),
        ("proc", "MIN_BY({}, STRUCT(UNIX_MICROS(__now) AS __micros, __sequence AS __sequence))"),
        ("proc DESC", "MAX_BY({}, STRUCT(UNIX_MICROS(__now) AS __micros, __sequence AS __sequence))"),
        ("v NULLS LAST", "MIN_BY({}, STRUCT(__order0 IS NULL AS __null0, __order0 AS __order0, UNIX_MICROS"),
        ("v DESC NULLS FIRST", "MAX_BY({}, STRUCT(__order0 IS NULL AS __null0, __order0 AS __order0, -UNIX_MICROS"),
    ],
)
def test_equal_rows_are_told_apart_by_their_arrival(order: str, expected: str) -> None:
    planned = plan(NUMBERED.format("id, v", "id", order, "clocked", "rn = 1"))

    row = ", ".join(f"{name} AS {name}" for name in (*(f"__column{place}" for place in range(4)), "__now"))
    assert expected.format(f"STRUCT({row})") in planned.sql
    assert isinstance(planned._stages[0], NumberedStage)


@pytest.mark.parametrize(
    "query",
    [
        "WITH r AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY v) AS rn, v FROM users) {}",
        "WITH u AS (SELECT * FROM users), r AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY v) AS rn, v "
        "FROM u WHERE v > 3) {}",
    ],
)
def test_numbers_may_be_kept_by_the_query_of_a_common_table_expression(query: str) -> None:
    planned = plan(query.format("SELECT v, id FROM r WHERE rn = 1"))

    assert "Rank(partitionBy=[id], orderBy=[v ASC], rankRange=[1, 1]" in planned.explain()
    assert planned.upsert_key == ("id",)


@pytest.mark.parametrize(
    ("query", "message", "works"),
    [
        (
            "SELECT *, ROW_NUMBER() OVER (ORDER BY v) AS rn FROM plain",
            "needs a query around it that keeps the first",
            NUMBERED.format("id", "id", "v", "plain", "rn = 1"),
        ),
        (
            NUMBERED.format("id", "id", "v", "plain", "rn > 1"),
            "needs a query around it that keeps the first numbers",
            NUMBERED.format("id", "id", "v", "plain", "rn <= 2"),
        ),
        (
            NUMBERED.format("id", "id", "v", "plain", "rn = v"),
            "needs a query around it that keeps the first numbers",
            NUMBERED.format("id", "id", "v", "plain", "rn = 1"),
        ),
        (
            NUMBERED.format("id", "id", "v", "plain", "rn = 0"),
            "no row has a number from 1 to 0",
            NUMBERED.format("id", "id", "v", "plain", "rn = 1"),
        ),
        (
            "SELECT id FROM (SELECT id, RANK() OVER (ORDER BY v) AS rn FROM plain) WHERE rn = 1",
            r"RANK\(\) of a stream is not known to the reference either",
            NUMBERED.format("id", "id", "v", "plain", "rn = 1"),
        ),
        (
            "SELECT id FROM (SELECT id, 1 + ROW_NUMBER() OVER (ORDER BY v) AS rn FROM plain) WHERE rn = 1",
            "stands alone in a column",
            NUMBERED.format("id", "id", "v", "plain", "rn = 1"),
        ),
        (
            "SELECT n FROM (SELECT COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY name) AS rn FROM plain GROUP BY name) "
            "WHERE rn = 1",
            "write the GROUP BY in a query within",
            "SELECT n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY name) AS rn FROM (SELECT name, COUNT(*) AS "
            "n FROM plain GROUP BY name) AS g) WHERE rn = 1",
        ),
        (
            "SELECT id FROM (SELECT ROW_NUMBER() OVER (ORDER BY v) AS rn, * FROM plain) WHERE rn = 1",
            r"write ROW_NUMBER\(\) after the \*",
            "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v) AS rn FROM plain) WHERE rn = 1",
        ),
        (
            "WITH r AS (SELECT id, v, ROW_NUMBER() OVER (ORDER BY v) AS rn FROM plain) "
            "SELECT id FROM r WHERE rn = 1 UNION ALL SELECT id FROM r WHERE rn <= 2",
            "kept in two ways: write their query twice",
            "WITH r AS (SELECT id, v, ROW_NUMBER() OVER (ORDER BY v) AS rn FROM plain), s AS (SELECT id, v, "
            "ROW_NUMBER() OVER (ORDER BY v) AS rn FROM plain) SELECT id FROM r WHERE rn = 1 UNION ALL SELECT "
            "id FROM s WHERE rn <= 2",
        ),
        (
            "WITH r (a, rn) AS (SELECT id, ROW_NUMBER() OVER (ORDER BY v) FROM plain) SELECT a FROM r WHERE rn = 1",
            "names its columns itself",
            "WITH r AS (SELECT id AS a, ROW_NUMBER() OVER (ORDER BY v) AS rn FROM plain) SELECT a FROM r WHERE rn = 1",
        ),
        (
            NUMBERED.format("id", "id", "proc", "moving", "rn = 1"),
            "returns something else for an old row",
            "SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY v) AS rn FROM moving) AS "
            "r WHERE rn = 1",
        ),
        (
            NUMBERED.format("id", "window_start, window_end", "v", TUMBLE.replace("orders", "unmarked"), "rn = 1"),
            "declare WATERMARK FOR",
            NUMBERED.format("id", "window_start, window_end", "v", TUMBLE, "rn = 1"),
        ),
    ],
)
def test_numbers_that_cannot_be_kept_are_refused_with_what_to_do(query: str, message: str, works: str) -> None:
    with pytest.raises(SqlError, match=message):
        plan(query)

    plan(works)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("v DESC NULLS LAST", "v DESC NULLS LAST, MONOTONICALLY_INCREASING_ID()) AS rn"),
        ("coalesce(v, id), `proc`", "coalesce(v, id), `proc`, MONOTONICALLY_INCREASING_ID()) AS rn"),
        ("proc DESC", "proc DESC, MONOTONICALLY_INCREASING_ID() DESC) AS rn"),
        ("PROCTIME() DESC", "current_timestamp() DESC, MONOTONICALLY_INCREASING_ID() DESC) AS rn"),
    ],
)
def test_spark_numbers_the_rows_of_a_batch_by_their_arrival_where_they_are_equal(order: str, expected: str) -> None:
    planned = plan(NUMBERED.format("id", "id", order, "clocked", "rn > 1"), streaming=False)

    assert f"ROW_NUMBER() OVER (PARTITION BY id ORDER BY {expected}" in planned.sql


class Partition:
    """The state of a partition, as Spark hands it to a function, and the rows that its changes have left."""

    def __init__(self, *orders: _Direction, last: int, by_number: bool = True, **more: Any) -> None:
        limits = {"first": 1, "last": last, "by_number": by_number, "prefers_last_arrived": False, "keeps_all": True}
        self._orders, self._limits = orders, _Limits(**{**limits, **more})
        self.value: tuple | None = None

    exists = property(lambda self: self.value is not None)
    get = property(lambda self: self.value)

    def update(self, value: tuple) -> None:
        json.loads(value[0])
        self.value = value

    def remove(self) -> None:
        self.value = None

    @property
    def rows(self) -> list[str]:
        """The rows that are kept, in their order."""
        return [] if self.value is None else [row[0] for row in json.loads(self.value[0])]

    def change(self, *rows: str) -> list[tuple[str, int, str]]:
        """Add rows, or take away those with a minus; of each the first letter is its order, ``?`` is NULL."""
        columns = ["__sequence", "__is_old", "__row", "__identity", "__order0"]
        values = [(place, row[0] == "-", row.strip("-"), row.strip("-")) for place, row in enumerate(rows)]
        orders = [None if row[2][0] == "?" else row[2][0] for row in values]
        # Spark may hand them out of order
        data = [(*row, order) for row, order in zip(values, orders, strict=True)][::-1]
        (found,) = _update(self._orders, self._limits, ("k",), iter([pd.DataFrame(data, columns=columns)]), self)
        return list(found.itertuples(index=False, name=None))


UP, DOWN = _Direction("exact", False, True), _Direction("exact", True, False)


def test_the_first_rows_change_with_their_numbers() -> None:
    partition = Partition(UP, last=2)

    assert partition.change("3a", "1b", "2c") == [("1b", 1, "+I"), ("2c", 2, "+I")]
    assert partition.change("-1b") == [("1b", 1, "-U"), ("2c", 1, "+U"), ("2c", 2, "-U"), ("3a", 2, "+U")]
    assert partition.change("4d", "-4d") == []
    assert partition.change("-2c", "-3a") == [("2c", 1, "-D"), ("3a", 2, "-D")]
    assert partition.value is None


def test_rows_without_numbers_come_and_go() -> None:
    partition = Partition(DOWN, last=2, by_number=False)

    assert partition.change("1a", "2b", "3c") == [("3c", 0, "+I"), ("2b", 0, "+I")]
    assert partition.change("4d") == [("2b", 0, "-D"), ("4d", 0, "+I")]


@pytest.mark.parametrize(
    ("orders", "first"),
    [
        ((UP,), "?d ?e 1a 1c 2b"),
        ((DOWN,), "2b 1a 1c ?d ?e"),
        ((_Direction("exact", False, False),), "1a 1c 2b ?d ?e"),
        ((_Direction("exact", True, True),), "?d ?e 2b 1a 1c"),
        ((), "1a 2b 1c ?d ?e"),
    ],
)
def test_equal_rows_stay_in_the_order_in_which_they_came(orders: tuple[_Direction, ...], first: str) -> None:
    partition = Partition(*orders, last=9)

    assert [row for row, _, _ in partition.change("1a", "2b", "1c", "?d")] == first.replace("?e", "").split()
    partition.change("?e")
    assert partition.rows == first.split()


def test_the_last_that_came_is_the_first_of_equal_ones_by_a_time() -> None:
    partition = Partition(DOWN, last=1, prefers_last_arrived=True, keeps_all=False)

    assert partition.change("1a", "1b") == [("1b", 1, "+I")]
    assert partition.change("1c") == [("1b", 1, "-U"), ("1c", 1, "+U")]
    assert partition.change("0d") == []
    assert partition.rows == ["1c"]


def test_differences_name_what_is_no_longer_there_first() -> None:
    assert _by_row(["a", "a", "b"], ["a", "c"]) == [("a", 0, "-D"), ("b", 0, "-D"), ("c", 0, "+I")]
    assert _by_number(["a"], ["a", "b"], 2) == [("b", 3, "+I")]
