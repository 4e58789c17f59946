"""Tables of different kinds, and plans of queries over them; nothing is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql.types import (
    DataType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from millrace.contracts import ChangelogMode
from millrace_sql.errors import SqlError
from millrace_sql.planner import InputColumn, InputTable, SparkPlan, ViewQuery, plan_query
from millrace_sql.script_texts import Identifier, ScriptPosition, SqlText

HINTS: list[Mapping[str, str]] = []

AS_BATCH = "run the query as a batch"
"""Advice to leave a query as it is."""


def _table(name: str, columns: str, *, ts: DataType | None = None, **more: Any) -> InputTable:
    types = {
        "id": LongType(),
        "v": IntegerType(),
        "x": DoubleType(),
        "m": DecimalType(10, 2),
        "wide": DecimalType(38, 2),
        "ts": ts or TimestampType(),
    }
    fields = tuple(
        InputColumn(
            column,
            types.get(column, StringType()),
            is_event_time=column == "ts",
            expression="current_timestamp()" if column == "proc" else None,
        )
        for column in columns.split()
    )
    return InputTable(Identifier(("cat", "db", name)), fields, **more)


_ORDERS = _table("orders", "id name v ts")

TABLES = {
    "orders": _ORDERS,
    "plain": _table("plain", "id name v"),
    "unmarked": replace(_ORDERS, columns=tuple(replace(column, is_event_time=False) for column in _ORDERS.columns)),
    "users": _table("users", "id name v x m wide", primary_key=("id",), changelog_mode=ChangelogMode.ALL),
    "kept": _table(
        "kept",
        "id name v x m wide",
        primary_key=("id",),
        changelog_mode=ChangelogMode.ALL,
        raw_changelog_mode=ChangelogMode.UPSERT,
    ),
    "log": _table("log", "id v", changelog_mode=ChangelogMode.ALL),
    "timed": _table("timed", "id v ts", changelog_mode=ChangelogMode.ALL),
    "clocked": _table("clocked", "id v ts proc"),
    "moving": _table("moving", "id name v proc", primary_key=("id",), changelog_mode=ChangelogMode.ALL),
    "local": _table("local", "id ts", ts=TimestampNTZType()),
    "names": _table("names", "name title", primary_key=("name",), is_static=True),
}


def resolve(name: Identifier, hints: Mapping[str, str]) -> InputTable:
    if hints:
        HINTS.append(hints)
    if name.parts[-1] not in TABLES:
        raise SqlError(f"no table {name.parts[-1]!r}", name.position)
    return TABLES[name.parts[-1]]


TABLES["adults"] = InputTable(
    Identifier(("cat", "db", "adults")),
    (),
    view=ViewQuery(SqlText("SELECT id, v FROM users WHERE v > 17"), ("user", "age"), resolve),
)


def plan(sql: str, *, streaming: bool = True, sink: ChangelogMode = ChangelogMode.UPSERT, **more: Any) -> SparkPlan:
    return plan_query(SqlText(sql, ScriptPosition(1, 1)), resolve, streaming=streaming, sink_mode=sink, **more)


def follow(advice: str, query: str) -> None:
    """Plan what the error of a stream advises: another query, or its own as a batch."""
    if advice == AS_BATCH:
        plan(query, streaming=False)
    else:
        plan(advice)
