"""Fit the changelog of a query to what a sink takes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode
from millrace_catalog.types.identifiers import quote_name
from millrace_sql.errors import SqlError
from millrace_sql.planner.model import QueryPlan
from millrace_sql.script_texts import ScriptPosition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def check_changelog(plan: QueryPlan, accepted: ChangelogMode, table: str, position: ScriptPosition) -> None:
    """Check that a sink can take the rows of a query.

    Args:
        plan: The query.
        accepted: The kinds of rows that the sink takes.
        table: Its name, for the error.
        position: The place of the query.

    Raises:
        SqlError: It cannot; the message names the operation that makes the rows a changelog.
    """
    refused = plan.changelog_mode.row_kinds - accepted.row_kinds
    if "+U" in accepted.row_kinds:
        # A sink that finds the old row by its key needs no -U
        refused -= {"-U"}
    if not refused:
        return
    kinds = ", ".join(kind for kind in ("+I", "-U", "+U", "-D") if kind in refused)
    because = f", produced by {plan.changelog_origin}" if plan.changelog_origin else ""
    raise SqlError(
        f"table {table} takes rows of {accepted}, and the query has {plan.changelog_mode}{because}; the table cannot "
        f"take {kinds}: write into one that takes changes, such as one of 'connector' = 'upsert-kafka'",
        position,
    )


logger = logging.getLogger("millrace.sql")

OldRows = Literal["all", "needed", "delete"]
"""The ``-U`` that a sink gets: all, those that an operation of the query reads, or these as ``-D``."""


def old_rows_for(
    plan: QueryPlan,
    accepted: ChangelogMode,
    primary_key: tuple[str, ...],
    sink_names: Mapping[str, str],
    position: ScriptPosition,
) -> OldRows:
    """Decide what becomes of the old rows of updates.

    A sink that takes no ``-U`` finds the row to replace by its key, and needs only those of rows that an operation
    drops: they are deletes (`TableSink.changelog_mode`). A row that left its key for another one must be deleted there,
    so that ``-U`` becomes ``-D`` unless the key of the result is that of the table.

    Args:
        plan: The query.
        accepted: The kinds of rows that the sink takes.
        primary_key: The table's primary key.
        sink_names: The table's columns by those of the query.
        position: The place of the query.

    Raises:
        SqlError: Several rows of the result can have one key of the table.
    """
    if plan.changelog_mode.is_insert_only or "-U" in accepted.row_kinds or not primary_key:
        return "all"
    key = {sink_names.get(name, name).lower() for name in plan.upsert_key}
    own = {name.lower() for name in primary_key}
    if not key <= own:
        raise SqlError(
            f"a row of the query is known by ({', '.join(map(quote_name, plan.upsert_key))}), and one of the table by "
            f"({', '.join(map(quote_name, primary_key))}), so that several rows would overwrite each other: group the "
            f"query by the table's key, or give the table the key of the query",
            position,
        )
    if key == own:
        return "needed"
    if plan.lost_key:
        lost, table_key = (", ".join(map(quote_name, names)) for names in (plan.lost_key, primary_key))
        raise SqlError(
            f"a row of the query is known by ({lost}), which it leaves out: several rows can have one value of "
            f"({table_key}), the key of the table, and the deletion of one would delete the others too; select {lost} "
            f"and make it the key of the table, or group the query by ({table_key})",
            position,
        )
    if not key and not plan.has_one_row:
        logger.warning("the rows of the query have no key; if two have one key of the table, the later one stays")
    return "delete"


def fit_changelog(rows: DataFrame, old_rows: OldRows) -> DataFrame:
    """Return rows whose ``-U`` are as they are, or ``-D``."""
    from pyspark.sql import functions as fn

    if old_rows != "delete" or ROW_KIND_COLUMN not in rows.columns:
        return rows
    kind = fn.col(ROW_KIND_COLUMN)
    return rows.withColumn(ROW_KIND_COLUMN, fn.when(kind == "-U", "-D").otherwise(kind))
