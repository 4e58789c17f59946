"""Joins of streams with tables that change."""

from __future__ import annotations

import pytest

from millrace_sql.errors import SqlError
from support.planned_sql import plan

LOOKUP = "SELECT o.id, u.v FROM {stream} AS o JOIN {table} ON o.id = u.id"


@pytest.mark.parametrize("stream", ["orders", "(SELECT id FROM orders)"])
@pytest.mark.parametrize("table", ["users AS u", "(SELECT id, v FROM users) AS u"])
def test_a_regular_join_of_a_stream_with_changes_is_refused_with_the_join_that_works(stream: str, table: str) -> None:
    with pytest.raises(SqlError, match="a regular join of a stream with the changes of ") as caught:
        plan(LOOKUP.format(stream=stream, table=table))

    assert "JOIN the table itself, to the right of the stream, FOR SYSTEM_TIME AS OF PROCTIME() for" in str(
        caught.value
    )
    followed = plan(LOOKUP.format(stream=stream, table="users FOR SYSTEM_TIME AS OF PROCTIME() AS u"))
    assert followed.runs_per_batch
    assert not plan(LOOKUP.format(stream=stream, table=table), streaming=False).runs_per_batch


def test_a_regular_join_of_changes_with_a_stream_is_no_lookup_either() -> None:
    with pytest.raises(SqlError, match="a regular join of a stream with the changes of "):
        plan("SELECT u.v FROM users AS u LEFT JOIN orders AS o ON o.id = u.id")


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
