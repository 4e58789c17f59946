"""Tables of the sink that several tables of the source may go to, by the routes alone.

What messages there are so far does not matter: the answer is the same at the begin of a stream and at its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from millrace_cdc.routing.router import SPECIAL

if TYPE_CHECKING:
    from millrace_cdc.routing.router import Route
    from millrace_cdc.table_id import TableId

_ONE_TABLE = re.compile(r"[\w.-]+")
_ONE_GROUP = re.compile(r"[\w.-]*\((?:[^()\\]|\\.)*\)[\w.-]*")
_ONE_SCHEMA = re.compile(r"(?:[\w-]+\.)*(?:[^.,\\]|\\.)+")
"""A pattern in which only the name of a table varies."""


def may_be_shared(routes: Iterable[Route], table: TableId, target: TableId) -> bool:
    """Return whether routes may bring rows of other tables to the target of a table.

    Args:
        routes: The routes.
        table: The table of the source.
        target: The table of the sink that its rows go to.
    """
    return any(
        _may_lead_to(route, target) and (route.target(table) != target or not _keeps_tables_apart(route))
        for route in routes
    )


def _may_lead_to(route: Route, target: TableId) -> bool:
    sink, symbol = route.rule.sink_table, route.rule.replace_symbol
    literals = sink.split(symbol) if symbol is not None else _literals(sink)
    return re.fullmatch(".*".join(map(re.escape, literals)), target.plain, re.DOTALL) is not None


def _literals(sink: str) -> list[str]:
    """Return the texts between the groups of a sink's table."""
    literals, end = [""], 0
    for special in SPECIAL.finditer(sink):
        literals[-1] += sink[end : special.start()] + (special["escaped"] or "")
        if special["digits"]:
            literals.append("")
        end = special.end()
    literals[-1] += sink[end:]
    return literals


def _keeps_tables_apart(route: Route) -> bool:
    """Return whether it is certain that different tables get different targets."""
    pattern, sink, symbol = route.rule.source_table.strip(), route.rule.sink_table, route.rule.replace_symbol
    if _ONE_TABLE.fullmatch(pattern):
        return True
    if symbol is not None:
        return symbol in sink and _ONE_SCHEMA.fullmatch(pattern) is not None
    return _ONE_GROUP.fullmatch(pattern) is not None and len(_literals(sink)) > 1
