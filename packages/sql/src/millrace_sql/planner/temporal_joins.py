"""FOR SYSTEM_TIME AS OF: which times a table can be read as of, and what is refused."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.relations import Source, parse_expression

NOW_INSTEAD = "FOR SYSTEM_TIME AS OF PROCTIME() for its rows at the time of the micro-batch"


def check_times(text: QueryText, sources: tuple[Source, ...]) -> None:
    """Check that all FOR SYSTEM_TIME AS OF name the processing time.

    Args:
        text: The query, for errors.
        sources: The tables and queries of FROM, in order.

    Raises:
        SqlError: One names another time, or stands at a table that is not joined.
    """
    for number, source in enumerate(sources):
        if source.as_of is not None:
            _check(text, source, source.as_of, sources[:number])


def _check(text: QueryText, source: Source, as_of: str, before: tuple[Source, ...]) -> None:
    if source.join is None:
        message = f"FOR SYSTEM_TIME AS OF {as_of}: {source.alias} has no earlier rows to read; leave it out, or JOIN it"
        raise text.error(message, source.node)
    if "".join(as_of.upper().split()) == "PROCTIME()":
        return
    table, name = _column(as_of)
    left = [other.relation for other in before if not table or other.alias.lower() == table]
    if any(name in relation.processing_time for relation in left):
        return
    if any(name in relation.event_time for relation in left):
        message = (
            f"FOR SYSTEM_TIME AS OF {as_of}, an event time, asks for the version of {source.alias} at the time of each "
            f"row, and versions are not kept: write {NOW_INSTEAD}"
        )
    else:
        message = (
            f"FOR SYSTEM_TIME AS OF {as_of}: expected PROCTIME(), or a column of the left table that is computed as "
            f"PROCTIME(): write {NOW_INSTEAD}"
        )
    raise text.error(message, source.node)


def _column(as_of: str) -> tuple[str, str]:
    """Return table and column of a name in lower case; empty texts for what is none."""
    try:
        tree: Any = parse_expression(as_of)
    except SqlglotError:
        return "", ""
    return (tree.table.lower(), tree.name.lower()) if isinstance(tree, exp.Column) else ("", "")
