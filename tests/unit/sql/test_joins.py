"""Joins of streams with tables that change."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from millrace_sql.errors import SqlError
from millrace_sql.planner.join_stage import JoinStage, _update
from support.planned_sql import plan

LOOKUP = "SELECT o.id, u.v FROM {stream} AS o JOIN {table} ON o.id = u.id"


JOINED = "SELECT {} FROM {} AS a {}"
ON_NAME, ON_KEY = "JOIN users AS b ON a.name = b.name", "JOIN users AS b ON a.id = b.id"


@pytest.mark.parametrize(
    ("query", "key"),
    [
        # Where one row finds one partner at most, its key is that of the result
        (JOINED.format("a.id, b.v", "kept", ON_KEY), ("id",)),
        (JOINED.format("b.id, a.v", "kept", f"LEFT {ON_KEY}"), ()),
        (JOINED.format("a.id, b.id AS other", "kept", ON_NAME), ("id", "other")),
        (JOINED.format("a.id, b.v", "kept", ON_NAME), ()),
        (JOINED.format("a.id, b.id, b.v", "kept", ON_NAME), ()),
        (JOINED.format("*", "kept", ON_NAME), ()),
        (JOINED.format("a.id, b.id AS other, b.v", "kept", f"FULL {ON_KEY}"), ("id", "other")),
        (JOINED.format("a.id, b.id AS other", "orders", ON_NAME), ()),
        (JOINED.format("b.id, a.v", "log", "RIGHT JOIN users AS b ON a.id = b.id"), ()),
        (JOINED.format("*", "(SELECT id, v FROM kept)", "JOIN (SELECT id, x FROM users) AS b USING (id)"), ("id",)),
        (JOINED.format("b.name, n", "(SELECT name, COUNT(*) AS n FROM plain GROUP BY name)", ON_NAME), ()),
        # A time that nobody reads is no matter
        (JOINED.format("a.id, b.v", "kept", "JOIN moving AS b ON a.id = b.id"), ("id",)),
        (JOINED.format("COUNT(*)", "log", "JOIN clocked AS b ON a.id = b.id"), ()),
        ("SELECT a.id, b.v FROM kept AS a, users AS b WHERE b.id = a.id AND a.v > 3", ("id",)),
        ("SELECT a.id FROM kept AS a JOIN users AS b ON a.id = b.id JOIN log AS c ON c.id = b.id", ()),
        ("SELECT a.id, n.title FROM kept AS a JOIN users AS b ON a.id = b.id JOIN names AS n ON n.name = b.name", ()),
    ],
)
def test_a_regular_join_of_changes_keeps_both_sides(query: str, key: tuple[str, ...]) -> None:
    planned = plan(query)

    assert any(isinstance(stage, JoinStage) for stage in planned._stages)
    assert not planned.runs_per_batch
    assert (str(planned.changelog_mode), planned.upsert_key) == ("[I,UA]" if "COUNT(*) F" in query else "[I,D]", key)
    assert all(scan.needs_update_before for scan in planned.scans if not scan.table.changelog_mode.is_insert_only)


def test_a_join_keeps_the_columns_that_are_read_and_filters_pairs_afterwards() -> None:
    planned = plan(JOINED.format("a.id, b.m * 2 AS twice", "kept", f"{ON_NAME} AND a.v > b.x WHERE b.wide > 1"))

    (stage,) = planned._stages
    assert isinstance(stage, JoinStage)
    assert stage.names == ("a.id", "a.v", "b.id", "b.x", "b.m", "b.wide")
    assert planned.sql.endswith("WHERE `b.wide` > 1 AND `a.v` > `b.x`")


@pytest.mark.parametrize(
    ("join", "message", "works"),
    [
        (
            "JOIN users AS b ON a.v > b.v",
            r"needs a condition that compares both tables: JOIN b ON a.x = b.x",
            "JOIN users AS b ON a.id = b.id WHERE a.v > b.v",
        ),
        (
            "CROSS JOIN users AS b",
            "needs a condition that compares both tables",
            "JOIN users AS b ON a.name = b.name",
        ),
        (
            "LEFT JOIN users AS b ON a.id = b.id AND b.v > 3",
            r"only = .* filter a table in a query of its own",
            "LEFT JOIN (SELECT * FROM users WHERE v > 3) AS b ON a.id = b.id",
        ),
        (
            "LEFT SEMI JOIN users AS b ON a.id = b.id",
            "a LEFT SEMI JOIN of changes: write JOIN, LEFT JOIN",
            "JOIN users AS b ON a.id = b.id",
        ),
        (
            "NATURAL JOIN users AS b",
            "a NATURAL JOIN of changes",
            "LEFT JOIN users AS b ON a.name = b.name",
        ),
        (
            "FULL JOIN users AS b USING (id)",
            "write ON for USING in a FULL JOIN",
            "FULL JOIN users AS b ON a.id = b.id",
        ),
        (
            "JOIN users AS a ON id = id",
            "give the tables of a join different names",
            "JOIN users AS b ON a.id = b.id",
        ),
        (
            "JOIN users AS b ON id = b.id",
            "id is a column of both tables: write the name of one before it",
            "JOIN users AS b ON a.id = b.id",
        ),
        (
            "JOIN moving AS b ON a.id = b.id WHERE b.proc > a.name",
            r"proc AS CURRENT_TIMESTAMP\(\) is something else",
            "JOIN moving AS b ON a.id = b.id",
        ),
        (
            "JOIN clocked AS b ON a.name = b.proc",
            r"proc AS CURRENT_TIMESTAMP\(\) is something else whenever",
            "JOIN clocked AS b ON a.id = b.id",
        ),
        (
            "JOIN users AS b ON a.id = b.id AND a.v > RAND()",
            "could join a row and not its deletion",
            "JOIN users AS b ON a.id = b.id AND a.v > b.x",
        ),
        (
            "JOIN names AS n ON a.name = n.name JOIN users AS b ON a.id = b.id",
            "write the tables that change first",
            "JOIN users AS b ON a.id = b.id JOIN names AS n ON a.name = n.name",
        ),
    ],
)
def test_joins_that_cannot_be_kept_are_refused_with_what_to_do(join: str, message: str, works: str) -> None:
    with pytest.raises(SqlError, match=message):
        plan(JOINED.format("a.v", "kept", join))

    plan(JOINED.format("a.v", "kept", works))


@pytest.mark.parametrize("table", ["users AS u", "(SELECT id, v FROM users) AS u"])
def test_a_join_that_names_the_processing_time_is_a_lookup(table: str) -> None:
    assert not plan(LOOKUP.format(stream="orders", table=table)).runs_per_batch
    assert plan(LOOKUP.format(stream="orders", table="users FOR SYSTEM_TIME AS OF PROCTIME() AS u")).runs_per_batch


class Sides:
    """The state of a value of a join's condition, as Spark hands it to a function."""

    def __init__(self, *, is_keyed: bool = False, is_kept: tuple[bool, bool] = (False, False)) -> None:
        self._how = (is_keyed, is_keyed), is_kept
        self.value: tuple | None = None

    exists = property(lambda self: self.value is not None)
    get = property(lambda self: self.value)

    def update(self, value: tuple) -> None:
        json.loads(value[0])
        self.value = value

    def remove(self) -> None:
        self.value = None

    def change(self, *rows: str, is_null: bool = False) -> list[tuple[str | None, str | None, str]]:
        """Add rows, small letters to the left side and large ones to the right; take away those with a minus."""
        columns = ["__sequence", "__side", "__is_old", "__row", "__identity", "__is_null"]
        texts = [row.strip("-") for row in rows]
        data = [
            (place, int(text[0].isupper()), row[0] == "-", text, text[0], is_null)
            for place, (row, text) in enumerate(zip(rows, texts, strict=True))
        ]
        # Spark may hand them out of order
        batches = iter([pd.DataFrame(data[::-1], columns=columns)])
        (found,) = _update(*self._how, ("k",), batches, self)
        return list(found.itertuples(index=False, name=None))


def test_rows_are_paired_with_all_of_the_other_side() -> None:
    sides = Sides()

    assert sides.change("a", "b") == []
    assert sides.change("X") == [("a", "X", "+I"), ("b", "X", "+I")]
    assert sides.change("-a", "a", "c", "-c") == []
    assert sides.change("-a", "Y") == [("a", "X", "-D"), ("b", "Y", "+I")]
    assert sides.change("b") == [("b", "X", "+I"), ("b", "Y", "+I")]
    assert sides.change("-b", "-b", "-X", "-Y") == [
        ("b", "X", "-D"),
        ("b", "X", "-D"),
        ("b", "Y", "-D"),
        ("b", "Y", "-D"),
    ]
    assert sides.value is None


def test_a_row_without_a_partner_is_kept_until_one_comes() -> None:
    sides = Sides(is_kept=(True, True))

    assert sides.change("a") == [("a", None, "+I")]
    assert sides.change("X") == [("a", None, "-D"), ("a", "X", "+I")]
    assert sides.change("-a") == [("a", "X", "-D"), (None, "X", "+I")]
    assert sides.change("-X") == [(None, "X", "-D")]


def test_null_is_equal_to_nothing() -> None:
    assert Sides(is_kept=(True, False)).change("a", "X", is_null=True) == [("a", None, "+I")]


def test_a_key_has_one_row_though_it_is_inserted_again_or_its_old_row_has_other_metadata() -> None:
    sides = Sides(is_keyed=True)

    assert sides.change("a1", "a1", "X1") == [("a1", "X1", "+I")]
    assert sides.change("a2") == [("a1", "X1", "-D"), ("a2", "X1", "+I")]
    assert sides.change("-a9") == [("a2", "X1", "-D")]


@pytest.mark.parametrize(
    "stream", ["clocked", "(SELECT id, proc FROM clocked)", "(SELECT *, PROCTIME() AS proc FROM plain)"]
)
@pytest.mark.parametrize("time", ["o.proc", "proc", "`o`.`PROC`", "PROCTIME()", "proctime ( )"])
@pytest.mark.parametrize("streaming", [True, False])
def test_a_table_can_be_read_as_of_the_processing_time(stream: str, time: str, streaming: bool) -> None:
    table = f"users FOR SYSTEM_TIME AS OF {time} AS u"

    planned = plan(LOOKUP.format(stream=stream, table=table), streaming=streaming)

    assert planned.runs_per_batch is streaming


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("table", ["users", "names"])
@pytest.mark.parametrize(
    ("time", "message"),
    [
        ("o.ts", "o.ts, an event time, asks for the version of u at the time of each row"),
        ("ts", "ts, an event time, asks"),
        ("o.id", r"expected PROCTIME\(\), or a column of the left table that is computed as PROCTIME\(\)"),
        ("u.proc", r"expected PROCTIME\(\)"),
        ("NOW()", r"expected PROCTIME\(\)"),
    ],
)
def test_a_table_cannot_be_read_as_of_another_time(time: str, message: str, table: str, streaming: bool) -> None:
    query = LOOKUP.format(stream="orders", table=f"{table} FOR SYSTEM_TIME AS OF {time} AS u")

    with pytest.raises(SqlError, match=message) as caught:
        plan(query, streaming=streaming)

    assert "write FOR SYSTEM_TIME AS OF PROCTIME() for its rows" in str(caught.value)
    plan(query.replace(f"OF {time}", "OF PROCTIME()"), streaming=streaming)


def test_the_first_table_has_no_other_time() -> None:
    with pytest.raises(SqlError, match="users has no earlier rows to read; leave it out, or JOIN it"):
        plan("SELECT * FROM users FOR SYSTEM_TIME AS OF PROCTIME()")
