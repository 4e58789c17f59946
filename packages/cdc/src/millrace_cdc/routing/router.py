"""Route tables: the tables of the sink that the changes of a source's table go to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from millrace_cdc.definitions.pipeline_options import RouteMode
from millrace_cdc.definitions.rules import RouteRule
from millrace_cdc.routing.patterns import RoutePattern
from millrace_cdc.table_id import TableId

if TYPE_CHECKING:
    import regex

_STAND_IN = "\0"
SPECIAL = re.compile(r"\\(?P<escaped>.)|\$(?P<digits>\d*)|(?P<backslash>\\)", re.DOTALL)
"""Escaped characters and groups in a ``sink-table``."""


@dataclass(frozen=True)
class Route:
    """A route, ready to be followed.

    Attributes:
        rule: Its definition.
        pattern: The tables that it is for.
    """

    rule: RouteRule
    pattern: RoutePattern

    @classmethod
    def of(cls, rule: RouteRule) -> Route:
        """Make a route of its definition.

        Raises:
            ValueError: Its pattern is none, or ``sink-table`` names a group that the pattern lacks or is no table's id.
        """
        route = cls(rule, RoutePattern(rule.source_table))
        if rule.replace_symbol is None:
            check_groups(rule.sink_table, route.pattern.groups)
        return route

    def target(self, table: TableId) -> TableId | None:
        """Return the sink's table for one of the source; None where the route is not for it.

        Raises:
            ValueError: With the name put in, ``sink-table`` is no table's id.
        """
        match = self.pattern.match(table)
        if match is None:
            return None
        sink, symbol = self.rule.sink_table, self.rule.replace_symbol
        if symbol is None:
            return TableId.parse(_with_groups(sink, match))
        # Parts are found before the name is put in, which may have dots
        parts = TableId.parse(sink.replace(symbol, _STAND_IN)).parts
        return TableId.of(*(part.replace(_STAND_IN, table.table) for part in parts))


class Router:
    """Follow the routes of a pipeline.

    Args:
        rules: Their definitions, in order.
        mode: Whether a table takes all routes that match it, or the first one.

    Raises:
        ValueError: A definition is wrong.
    """

    def __init__(self, rules: Iterable[RouteRule], mode: RouteMode = "ALL_MATCH") -> None:
        self._routes = tuple(Route.of(rule) for rule in rules)
        self._mode = mode
        self._targets: dict[TableId, tuple[TableId, ...]] = {}

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes, in order."""
        return self._routes

    def route(self, table: TableId) -> tuple[TableId, ...]:
        """Return the sink's tables for one of the source, each once: itself where no route matches.

        Raises:
            ValueError: A route makes no table's id of its name.
        """
        if table not in self._targets:
            targets = [target for route in self._routes if (target := route.target(table)) is not None]
            if self._mode == "FIRST_MATCH":
                targets = targets[:1]
            self._targets[table] = tuple(dict.fromkeys(targets)) or (table,)
        return self._targets[table]


def check_groups(sink_table: str, groups: int) -> None:
    """Check that a sink table with references to groups, such as ``ods.$1``, names groups that there are.

    Raises:
        ValueError: It does not.
    """
    for match in SPECIAL.finditer(sink_table):
        if match["backslash"] or (match["digits"] is not None and not match["digits"]):
            raise ValueError(r"expected the number of a group after '$', such as $1; a dollar sign itself is \$")
        if match["digits"] and int(match["digits"][0]) > groups:
            raise ValueError(f"there is no group ${match['digits'][0]}: source-table has {groups} in parentheses")


def _with_groups(text: str, match: regex.Match[str]) -> str:
    """Replace ``$1`` by the first group and so on, as Java does: the longest number that is a group's."""

    def value_of(special: re.Match[str]) -> str:
        digits = special["digits"]
        if not digits:
            return special["escaped"]
        length = max(n for n in range(1, len(digits) + 1) if n == 1 or int(digits[:n]) <= match.re.groups)
        return (match[int(digits[:length])] or "") + digits[length:]

    return SPECIAL.sub(value_of, text)
