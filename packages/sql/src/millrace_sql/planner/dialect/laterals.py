"""UNNEST and LATERAL TABLE in FROM, token by token, as Spark's lateral views of arrays and maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from millrace_catalog.types import ArrayType, DataType, MapType, RowType
from millrace_catalog.types.identifiers import backquote

_ELEMENT, _NUMBER = "__element", "__number"
"""Parameters of lambdas, which no column is named like."""

_JOINS = (
    (("CROSS", "JOIN"), False),
    (("INNER", "JOIN"), False),
    (("JOIN",), False),
    (("LEFT", "JOIN"), True),
    (("LEFT", "OUTER", "JOIN"), True),
    ((",",), False),
)
"""The words of joins, and whether they keep rows without a partner."""

_OTHER_JOINS = frozenset((",", "ANTI", "CROSS", "FULL", "INNER", "JOIN", "LEFT", "NATURAL", "RIGHT", "SEMI"))
_CLAUSES = """
EXCEPT FETCH GROUP HAVING INTERSECT LATERAL LIMIT MINUS OFFSET ON ORDER QUALIFY UNION WHERE WINDOW WITH
"""
_NO_ALIASES = frozenset((*_CLAUSES.split(), *_OTHER_JOINS))
_LAST = (
    "{} stands before a JOIN, and Spark makes its rows after all joins: write {} behind them, or in a query of its "
    "own, as in FROM (SELECT ... FROM t CROSS JOIN {}(...) AS u (x)) AS v JOIN ..."
)


@dataclass(frozen=True)
class _Item:
    """Right side of a join: its function, its array or map, whether rows are numbered, its name and its columns."""

    function: str
    value: str
    is_numbered: bool
    alias: str
    columns: tuple[str, ...]


class LateralRewriter:
    """Rewrite joins with UNNEST and with table functions, which are functions of arrays of rows.

    Args:
        word: Returns the token at an index, in upper case, a quoted one as empty; empty behind the last one.
        name: Returns the text of the name at an index as it is written; None where no name is.
        closing: Returns the index of the token that closes what the token at an index opens.
        split: Returns the ranges of tokens between the commas from one index to another.
        rewrite: Returns the text of a range of tokens, rewritten.
        type_of: Returns types; None where they are not looked up yet.
    """

    def __init__(
        self,
        word: Callable[[int], str],
        name: Callable[[int], str | None],
        closing: Callable[[int], int],
        split: Callable[[int, int], list[tuple[int, int]]],
        rewrite: Callable[[int, int], str],
        type_of: Callable[[str], DataType | None] | None,
    ) -> None:
        self._word = word
        self._name = name
        self._closing = closing
        self._split = split
        self._rewrite = rewrite
        self._type_of = type_of

    def rewrite(self, index: int) -> tuple[str, int] | None:
        """Return the text of the join that begins at a token, and the index behind it; None for another token.

        Raises:
            ValueError: Spark has no such join; the message says what to write.
        """
        if self._word(index - 1) == "FROM" and self._is_item(index):
            item, end = self._item(index)
            generator, columns = self._generator(item)
            alias = f" AS {item.alias or 't'}({', '.join(columns)})" if columns else f" AS {item.alias or 't'}"
            return f"{generator}{alias}", end
        for words, is_outer in _JOINS:
            begin = index + len(words)
            if tuple(self._word(index + step) for step in range(len(words))) != words or not self._is_item(begin):
                continue
            item, end = self._item(begin)
            end = self._condition(item, end, is_required=words[-1] == "JOIN" and words[0] != "CROSS")
            self._check_last(item, end)
            generator, columns = self._generator(item)
            listed = f" AS {', '.join(columns)}" if columns else ""
            view = f"LATERAL VIEW {'OUTER ' if is_outer else ''}{generator} {item.alias or '__unnest'}{listed}"
            return (f" {view}" if words == (",",) else view), end
        return None

    def _is_item(self, index: int) -> bool:
        if self._word(index) == "UNNEST":
            return self._word(index + 1) == "("
        return [self._word(index + step) for step in range(3)] == ["LATERAL", "TABLE", "("]

    def _item(self, index: int) -> tuple[_Item, int]:
        opening = index + (1 if self._word(index) == "UNNEST" else 2)
        function = self._word(index) if opening == index + 1 else "LATERAL TABLE"
        end = self._closing(opening)
        if len(self._split(opening + 1, end)) > 1:
            raise ValueError(f"{function} takes one array or map: write a JOIN with {function} for each")
        value = self._rewrite(opening + 1, end)
        end += 1
        is_numbered = [self._word(end), self._word(end + 1)] == ["WITH", "ORDINALITY"]
        end += 2 if is_numbered else 0
        alias, columns = "", []
        named = end + 1 if self._word(end) == "AS" else end
        if self._name(named) is not None and (named > end or self._word(named) not in _NO_ALIASES):
            alias, end = self._name(named) or "", named + 1
            if self._word(end) == "(":
                close = self._closing(end)
                columns = [name for step in range(end + 1, close) if (name := self._name(step)) is not None]
                end = close + 1
        return _Item(function, value, is_numbered, alias, tuple(columns)), end

    def _condition(self, item: _Item, end: int, *, is_required: bool) -> int:
        """Return the index behind ON TRUE."""
        if self._word(end) != "ON":
            if is_required:
                raise ValueError(f"a JOIN with {item.function} is written JOIN {item.function}(...) AS t (x) ON TRUE")
            return end
        words = [self._word(end + step) for step in range(1, 4)]
        for condition in (["TRUE"], ["(", "TRUE", ")"]):
            behind = end + 1 + len(condition)
            if words[: len(condition)] == condition and self._word(behind) not in {"AND", "OR", "=", "IS"}:
                return behind
        message = f"a JOIN with {item.function} takes ON TRUE: write other conditions into WHERE, or into CASE"
        raise ValueError(message)

    def _check_last(self, item: _Item, end: int) -> None:
        if self._word(end) not in _OTHER_JOINS:
            return
        begins = (end + len(words) for words, _ in _JOINS if self._word(end) == words[0])
        if not any(self._is_item(begin) for begin in begins):
            raise ValueError(_LAST.format(*[item.function] * 3))

    def _generator(self, item: _Item) -> tuple[str, list[str]]:
        """Return the call that makes the rows, and the names of their columns."""
        if self._type_of is None:  # the names are what counts in a first pass
            function = "INLINE" if len(item.columns) > 1 else "EXPLODE"
            return f"{function}({item.value})", list(item.columns)
        type_ = self._type_of(item.value)
        if isinstance(type_, ArrayType):
            return self._of_array(item, type_.element)
        if isinstance(type_, MapType):
            value = f"map_entries({item.value})" if item.is_numbered else item.value
            if not item.is_numbered:
                return f"EXPLODE({value})", _columns(item, ["`EXPR$0`", "`EXPR$1`"])
            return self._numbered(item, value, ["key", "value"], ["`EXPR$0`", "`EXPR$1`"])
        message = (
            f"the type of {item.value} in {item.function} is not known here: write "
            f"{item.function}(CAST({item.value} AS ARRAY<type>)), or a MAP"
            if item.function == "UNNEST"
            else f"{item.value} is no call of a table function: CREATE FUNCTION makes one of a function in Python"
        )
        raise ValueError(message)

    def _of_array(self, item: _Item, element: DataType) -> tuple[str, list[str]]:
        if isinstance(element, RowType):
            names = [backquote(field.name) for field in element.fields]
            if item.is_numbered:
                return self._numbered(item, item.value, names, names)
            # Rows that are NULL are left out, in Flink
            return f"INLINE(filter({item.value}, {_ELEMENT} -> {_ELEMENT} IS NOT NULL))", _columns(item, names)
        if item.is_numbered:
            return self._numbered(item, item.value, [""], ["`EXPR$0`"])
        return f"EXPLODE({item.value})", _columns(item, ["`EXPR$0`"])

    def _numbered(self, item: _Item, array: str, fields: list[str], names: list[str]) -> tuple[str, list[str]]:
        """Return the rows with their numbers, from 1."""
        values = [f"{_ELEMENT}.{field}" if field else _ELEMENT for field in fields]
        columns = _columns(item, [*names, "`ORDINALITY`"])
        made = ", ".join(f"'c{number}', {value}" for number, value in enumerate([*values, f"{_NUMBER} + 1"]))
        rows = f"transform({array}, ({_ELEMENT}, {_NUMBER}) -> named_struct({made}))"
        return f"INLINE({rows})", columns


def _columns(item: _Item, names: list[str]) -> list[str]:
    if item.columns and len(item.columns) != len(names):
        message = f"{item.function}({item.value}) has {len(names)} columns, and {len(item.columns)} names: name each"
        raise ValueError(message)
    return list(item.columns) or names
