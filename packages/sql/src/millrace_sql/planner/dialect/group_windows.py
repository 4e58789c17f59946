"""The older windows of Flink, such as ``GROUP BY TUMBLE(ts, INTERVAL '5' MINUTE)``, by those of the table functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from millrace_sql.planner.dialect.windows import session_gap, window_select

_WINDOWS = ("HOP", "SESSION", "TUMBLE")
_COLUMNS = {
    "START": "window_start",
    "END": "window_end",
    "ROWTIME": "window_time",
    "PROCTIME": "current_timestamp()",
}
_OF_SESSIONS = {
    "START": "session_window.start",
    "END": "session_window.end",
    "ROWTIME": "(session_window.end - INTERVAL '0.000001' SECOND)",
    "PROCTIME": "current_timestamp()",
}
AUXILIARY = frozenset(f"{window}_{part}" for window in _WINDOWS for part in _COLUMNS)
"""The functions that return a part of a window."""

_SET_OPERATIONS = frozenset(("EXCEPT", "INTERSECT", "MINUS", "UNION"))
_AFTER_GROUP = _SET_OPERATIONS | {"FETCH", "HAVING", "LIMIT", "OFFSET", "ORDER", "QUALIFY", "WINDOW"}
_AFTER_SOURCE = frozenset(("GROUP", "WHERE"))
_ADVICE = (
    "{name} in GROUP BY takes a FROM of one table: make a query of the joins, as in "
    "FROM (SELECT ... FROM a JOIN b ON ...) AS t GROUP BY {name}(ts, ...)"
)


@dataclass
class WindowEdits:
    """Rewrite of the older windows of a query.

    Attributes:
        replaced: Calls by the index of their first token: the index behind them, and the text in their place.
        around: The texts before and behind a range of tokens, by its first index: the index of its last one, and both.
    """

    replaced: dict[int, tuple[int, str]] = field(default_factory=dict)
    around: dict[int, tuple[int, str, str]] = field(default_factory=dict)


class GroupWindowFinder:
    """Find the older windows of a query.

    Args:
        count: The number of tokens.
        word: Returns the token at an index, in upper case, a quoted one as empty; empty behind the last one.
        name: Returns the text of the name at an index as it is written; None where no name is.
        closing: Returns the index of the token that closes what the token at an index opens.
        arguments: Returns the texts of the arguments between two indices.
        time_zone: The session's time zone, in which windows begin.
    """

    def __init__(
        self,
        count: int,
        word: Callable[[int], str],
        name: Callable[[int], str | None],
        closing: Callable[[int], int],
        arguments: Callable[[int, int], list[str]],
        time_zone: str,
    ) -> None:
        self._count = count
        self._word = word
        self._name = name
        self._closing = closing
        self._arguments = arguments
        self._time_zone = time_zone

    def groups(self) -> list[int]:
        """Return the places of GROUP BY, those of inner queries first: they have their own calls."""
        groups = [index for index in range(self._count) if self._first(index) == "GROUP"]
        return sorted(groups, key=self._select_of, reverse=True)

    def _first(self, index: int) -> str:
        return self._word(index).partition(" ")[0]  # GROUP BY is one token

    def add(self, edits: WindowEdits, group: int) -> None:
        """Add the edits of the window in a GROUP BY.

        Raises:
            ValueError: The window has no counterpart; the message says what to write.
        """
        calls = [index for index in self._items(group) if self._word(index) in _WINDOWS]
        calls = [index for index in calls if self._word(index + 1) == "("]
        if not calls:
            return
        call = calls[0]
        name, close = self._word(call), self._closing(call + 1)
        if len(calls) > 1:
            raise ValueError(f"GROUP BY takes one window, not {name} and {self._word(calls[1])}")
        arguments = self._arguments(call + 2, close)
        if not arguments:
            raise ValueError(f"{name} is written {name}(ts, INTERVAL '5' MINUTE), in GROUP BY")
        parts = self._replace_columns(edits, group, name, arguments)
        if name == "SESSION":
            edits.replaced[call] = close + 1, f"session_window({arguments[0]}, '{session_gap(arguments[1:])}')"
            return
        self._wrap(edits, self._select_of(group), name, arguments)
        keys = "window_start, window_end, window_time" if "ROWTIME" in parts else "window_start, window_end"
        edits.replaced[call] = close + 1, keys

    def _replace_columns(self, edits: WindowEdits, group: int, name: str, arguments: list[str]) -> set[str]:
        """Replace the calls that return parts of the window, and return the parts."""
        parts = set()
        columns = _OF_SESSIONS if name == "SESSION" else _COLUMNS
        for index in range(self._select_of(group), self._end(group)):
            part = self._word(index).removeprefix(f"{name}_")
            if self._word(index + 1) != "(" or part not in columns or not self._word(index).startswith(f"{name}_"):
                continue
            end = self._closing(index + 1)
            if [_plain(text) for text in self._arguments(index + 2, end)] == [_plain(text) for text in arguments]:
                edits.replaced.setdefault(index, (end + 1, columns[part]))
                parts.add(part)
        return parts

    def _wrap(self, edits: WindowEdits, select: int, name: str, arguments: list[str]) -> None:
        """Put the table function around the table of FROM."""
        first = next((index for index in self._clause(select) if self._word(index) == "FROM"), self._count) + 1
        end = self._closing(first) + 1 if self._word(first) == "(" else self._end_of_name(first)
        if end is None:
            raise ValueError(_ADVICE.format(name=name))
        alias = self._name(end - 1) if self._word(first) != "(" else None
        named = end + 1 if self._word(end) == "AS" else end
        if self._name(named) is not None and self._first(named) not in _AFTER_SOURCE:
            alias, end = self._name(named), named + 1
        if self._first(end) not in _AFTER_SOURCE:
            raise ValueError(_ADVICE.format(name=name))
        before, after = window_select(name, arguments[0], arguments[1:], self._time_zone)
        edits.around[first] = end - 1, before, f"{after} AS {alias}" if alias else after

    def _end_of_name(self, index: int) -> int | None:
        if self._name(index) is None or self._word(index + 1) == "(":
            return None
        while self._word(index + 1) == ".":
            index += 2
        return index + 1

    def _items(self, group: int) -> Iterator[int]:
        """Yield the first tokens of the items of GROUP BY."""
        yield group + 1
        for index in self._clause(group):
            if self._first(index) in _AFTER_GROUP:
                return
            if self._word(index) == ",":
                yield index + 1

    def _end(self, group: int) -> int:
        index = group
        for index in self._clause(group):
            if self._word(index) in _SET_OPERATIONS:
                return index
        return index + 1

    def _clause(self, index: int) -> Iterator[int]:
        """Yield the tokens behind an index that are in no parentheses, to the end of the query or of its own."""
        index += 1
        while index < self._count and self._word(index) != ")":
            yield index
            index = self._closing(index) + 1 if self._word(index) == "(" else index + 1

    def _select_of(self, group: int) -> int:
        """Return the SELECT that a GROUP BY belongs to."""
        depth = 0
        for index in range(group - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(self._word(index), 0)
            if depth < 0 or (depth == 0 and self._word(index) == "SELECT"):
                return index
        return 0


def _plain(text: str) -> str:
    return " ".join(text.upper().replace("`", "").split())
