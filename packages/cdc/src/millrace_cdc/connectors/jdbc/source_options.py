"""The options of databases as a source of pipelines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from millrace.options import option
from millrace.options.values import parse_duration_ms
from millrace_cdc.connectors.jdbc.connection_options import ConnectionOptions
from millrace_cdc.routing.patterns import RoutePattern


def parse_tables(text: str) -> str:
    """Check a list of tables such as ``public.orders,public.users``.

    Raises:
        ValueError: It is none.
    """
    RoutePattern(text)
    return text


@dataclass(frozen=True, kw_only=True)
class JdbcSourceOptions(ConnectionOptions):
    """The options of databases as a source of pipelines."""

    tables: str = option(
        "tables",
        parse=parse_tables,
        doc=r"The tables to read: ids, or regular expressions as in a route's source-table, such as public.\.*, "
        "separated by ','. In SQLite an id is the table's name.",
    )
    column: str | None = option(
        "scan.incremental.column",
        default=None,
        doc="The column of each table that increases with every insertion and update, such as updated_at: rows with "
        "greater values are read again. Needed unless scan.startup.mode is snapshot.",
    )
    startup_mode: Literal["initial", "latest-offset", "snapshot"] = option(
        "scan.startup.mode",
        default="initial",
        doc="initial: all rows, then those that change; latest-offset: only those that change after the first start; "
        "snapshot: all rows once.",
    )
    poll_interval_ms: int = option(
        "scan.poll.interval",
        default=10_000,
        parse=parse_duration_ms,
        doc="How often to look for rows that have changed.",
    )
