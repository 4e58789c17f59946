"""Rewrite types, functions and clauses of Flink's dialect, token by token, before a query is parsed.

The rest of the text stays as it is, so that Spark gets the user's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlglot.tokens import Token

from millrace_catalog.expressions.function import Sql
from millrace_catalog.expressions.sql_calls import rewrite_call
from millrace_catalog.expressions.type_names import rewrite_type
from millrace_catalog.expressions.value_types import kind_of
from millrace_sql.errors import SqlError
from millrace_sql.planner.dialect.array_agg import array_agg
from millrace_sql.planner.dialect.function_calls import FunctionCallRewriter
from millrace_sql.planner.dialect.group_windows import GroupWindowFinder, WindowEdits
from millrace_sql.planner.dialect.json_calls import JsonRewriter
from millrace_sql.planner.dialect.laterals import LateralRewriter
from millrace_sql.planner.dialect.products import ProductRewriter, TypeOf
from millrace_sql.planner.dialect.texts import similar_to, text_with_quotes
from millrace_sql.planner.dialect.windows import WINDOW_FUNCTIONS, check_window, window_select
from millrace_sql.planner.user_functions import FunctionLookup, no_functions

if TYPE_CHECKING:
    from millrace_catalog.types import DataType
    from millrace_sql.script_texts import ScriptPosition


_DESCRIPTOR = re.compile(r"^(?:TIMECOL\s*=>)?\s*DESCRIPTOR\s*\(|\)\s*$", re.IGNORECASE)
_BEFORE_QUERY = frozenset({"ALL", "DISTINCT", "EXCEPT", "INTERSECT", "MINUS", "UNION"})
_AFTER_NAME = frozenset({"(", "FROM", "UNION", "WHERE"})
_OF_ORDER = ("FIRST_VALUE", "LAST_VALUE")
_NO_NAMES = frozenset({"ANY", "EXISTS", "FROM", "IN", "JOIN", "AS", "ON", "SOME"})
"""Words before a parenthesis that call no function."""


@dataclass(frozen=True, order=True)
class Edit:
    """A part of a text, from `start` up to `end`, and what replaces it."""

    start: int
    end: int
    replacement: str


class TokenRewriter:
    """Find the edits that a query needs.

    Args:
        text: The query.
        tokens: Its tokens.
        place: Returns the place in the script of an offset in the text.
        time_zone: The session's time zone, in which windows begin.
        type_of: Returns the types of expressions; None where what depends on them is left as it is.
        is_spark: Whether what Spark knows means what it means to Spark.
        functions: Finds user-defined functions.

    Attributes:
        temporal: The times after FOR SYSTEM_TIME AS OF, as they are written, by the offset of the last character of the
            table's name; filled by `edits`.
        session_keys: The columns of PARTITION BY in SESSION, in lower case, by the offset of the last character of the
            table's name; filled by `edits`.
    """

    def __init__(
        self,
        text: str,
        tokens: list[Token],
        place: Callable[[int], ScriptPosition],
        type_of: TypeOf | None = None,
        *,
        time_zone: str = "UTC",
        is_spark: bool = False,
        functions: FunctionLookup = no_functions,
    ) -> None:
        self._text = text
        self._tokens = tokens
        self._place = place
        self._type_of = type_of
        self._is_spark = is_spark
        self._products = ProductRewriter(self._word, self._is_value, self.closing, self._rewritten, type_of)
        self._laterals = LateralRewriter(self._word, self._name, self.closing, self._split, self._rewritten, type_of)
        self._array_agg = partial(array_agg, self._word, self.closing, self._products.end_of_call, self._rewritten)
        types = None if type_of is None else self._types
        self._functions = FunctionCallRewriter(self._word, self._name, self.closing, types, functions)
        end_of_operand = self._products.end_of_operand
        self._json = JsonRewriter(
            self._word, self._split, self.closing, self._rewritten, end_of_operand, type_of, is_spark=is_spark
        )
        self._time_zone = time_zone
        self._windows = WindowEdits()
        self.temporal: dict[int, str] = {}
        self.session_keys: dict[int, tuple[str, ...]] = {}

    def edits(self) -> list[Edit]:
        """Return the edits, in order.

        Raises:
            SqlError: Something cannot be rewritten; the message has Spark's spelling.
        """
        count = len(self._tokens)
        finder = GroupWindowFinder(count, self._word, self._name, self.closing, self._texts, self._time_zone)
        for group in finder.groups():
            try:
                finder.add(self._windows, group)
            except ValueError as error:
                raise SqlError(str(error), self._place(self._tokens[group].start)) from None
        return list(self._edits(0, len(self._tokens)))

    def _edits(self, begin: int, end: int, *, is_operand: bool = False) -> Iterator[Edit]:
        index = begin
        while index < end:
            yield from self._around(index)
            rewritten = (
                self._system_time(index)
                or self._group_window(index)
                or self._window(index)
                or self._table(index)
                or self._replacement(index, self._laterals.rewrite)
                or (None if is_operand and index == begin else self._operand(index))
                or self._replacement(index, self._json.call)
                or self._replacement(index, partial(text_with_quotes, self._text, self._tokens))
                or self._replacement(index, partial(similar_to, self._word, self._at))
                or self._cast(index)
                or (None if self._is_spark else self._replacement(index, self._products.average))
                or (None if self._is_spark else self._replacement(index, self._array_agg))
                or self._replacement(index, self._functions.rewrite)
                or self._call(index)
            )
            if rewritten is None:
                index += 1
                continue
            edits, index = rewritten
            yield from edits

    def _around(self, index: int) -> Iterator[Edit]:
        """Yield the texts before and behind what begins at a token."""
        if index in self._windows.around:
            last, before, behind = self._windows.around[index]
            start, end = self._tokens[index].start, self._tokens[last].end + 1
            yield from (Edit(start, start, before), Edit(end, end, behind))

    def _group_window(self, index: int) -> tuple[list[Edit], int] | None:
        if index not in self._windows.replaced:
            return None
        end, text = self._windows.replaced[index]
        return self._replaced(index, end, text)

    def _types(self, begin: int, end: int) -> list[DataType | None]:
        return [operand.type for operand in self._operands(begin, end, frozenset())]

    def _texts(self, begin: int, end: int) -> list[str]:
        return [self._source(part) for part in self._split(begin, end)] if end > begin else []

    def _word(self, index: int) -> str:
        if not 0 <= index < len(self._tokens):
            return ""
        token = self._tokens[index]
        # A quoted name is no keyword
        return "" if self._text[token.start : token.start + 1] in "`'\"" else token.text.upper()

    def closing(self, opening: int) -> int:
        """Return the index of the token that closes the parenthesis or bracket at an index, or the number of tokens."""
        depth = 0
        for index in range(opening, len(self._tokens)):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(self._word(index), 0)
            if depth == 0:
                return index
        return len(self._tokens)

    def _system_time(self, index: int) -> tuple[list[Edit], int] | None:
        words = [self._word(index + step) for step in range(4)]
        if words != ["FOR", "SYSTEM_TIME", "AS", "OF"] or index == 0:
            return None
        last = index + 4
        while self._word(last + 1) == ".":
            last += 2
        if self._word(last + 1) == "(":
            last = self.closing(last + 1)
        last = min(last, len(self._tokens) - 1)
        self.temporal[self._tokens[index - 1].end] = self._source((index + 4, last + 1))
        start, end = self._tokens[index].start, self._tokens[last].end + 1
        return [Edit(start, end, " " * (end - start))], last + 1

    def _table(self, index: int) -> tuple[list[Edit], int] | None:
        """Replace the query ``TABLE t``, which sqlglot does not know."""
        before, after = self._word(index - 1), self._word(index + 1)
        begins = index == 0 or before in _BEFORE_QUERY or (before == "(" and not self._is_name(index - 2))
        if self._word(index) != "TABLE" or not begins or not self._is_name(index + 1) or after in _AFTER_NAME:
            return None
        token = self._tokens[index]
        return [Edit(token.start, token.end + 1, "SELECT * FROM")], index + 1

    def _is_name(self, index: int) -> bool:
        if not 0 <= index < len(self._tokens):
            return False
        token = self._tokens[index]
        return self._text[token.start] == "`" or (token.text.isidentifier() and token.text.upper() not in _NO_NAMES)

    def _name(self, index: int) -> str | None:
        """Return the name at an index as it is written; None where there is none."""
        return self._at(index) if self._is_name(index) else None

    def _window(self, index: int) -> tuple[list[Edit], int] | None:
        """Replace ``TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), ...))`` around the table's name."""
        words = [self._word(index + step) for step in range(4)]
        if [words[0], words[1], words[3]] != ["TABLE", "(", "("] or words[2] not in WINDOW_FUNCTIONS:
            return None
        inner, outer = self.closing(index + 3), self.closing(index + 1)
        table, *rest = self._split(index + 4, inner)
        keyword = next((step for step in range(*table) if self._word(step) == "TABLE"), None)
        place = self._place(self._tokens[index + 2].start)
        if keyword is None or not rest or outer >= len(self._tokens):
            message = f"{words[2]} is written TABLE({words[2]}(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES))"
            raise SqlError(message, place)
        column = _DESCRIPTOR.sub("", self._source(rest[0]))
        try:
            intervals = [self._source(part) for part in rest[1:]]
            before, after = window_select(words[2], column.strip(), intervals, self._time_zone)
        except ValueError as error:
            raise SqlError(str(error), place) from None
        # sqlglot makes one token of the two words
        partition = next((step for step in range(*table) if self._word(step).split() == ["PARTITION", "BY"]), table[1])
        if partition < table[1]:
            if words[2] != "SESSION":
                message = f"{words[2]} has no PARTITION BY: name its columns in GROUP BY"
                raise SqlError(message, self._place(self._tokens[partition].start))
            keys = range(partition + 1, table[1])
            names = (self._tokens[step].text.lower() for step in keys if self._is_name(step))
            self.session_keys[self._tokens[partition - 1].end] = tuple(names)
        edits = [
            Edit(self._tokens[index].start, self._tokens[keyword + 1].start, before),
            Edit(self._tokens[partition].start, self._tokens[outer].end + 1, after),
        ]
        return edits, outer + 1

    def _split(self, begin: int, end: int) -> list[tuple[int, int]]:
        """Return the ranges of tokens between the commas of a call."""
        ranges, first, depth = [], begin, 0
        for index in range(begin, end):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(self._word(index), 0)
            if depth == 0 and self._word(index) == ",":
                ranges.append((first, index))
                first = index + 1
        return [*ranges, (first, end)]

    def _at(self, index: int) -> str:
        return self._source((index, index + 1))

    def _source(self, part: tuple[int, int]) -> str:
        begin, end = part
        return self._text[self._tokens[begin].start : self._tokens[end - 1].end + 1] if end > begin else ""

    def _is_value(self, index: int) -> bool:
        if not 0 <= index < len(self._tokens):
            return False
        token = self._tokens[index]
        return self._text[token.start] in "`'" or token.text[:1].isalnum() or token.text[:1] == "_"

    def _replaced(self, begin: int, end: int, text: str) -> tuple[list[Edit], int]:
        return [Edit(self._tokens[begin].start, self._tokens[end - 1].end + 1, text)], end

    def _operand(self, index: int) -> tuple[list[Edit], int] | None:
        """Replace the predicate or the product that begins with an operand."""
        predicate = self._replacement(index, self._json.predicate)
        if predicate is not None or self._is_spark:
            return predicate
        return self._replacement(index, self._products.rewrite)

    def _replacement(
        self, index: int, rewrite: Callable[[int], tuple[str, int] | None]
    ) -> tuple[list[Edit], int] | None:
        """Return the edit for what a rewriter makes of the text that begins at a token; None where it keeps it."""
        try:
            rewritten = rewrite(index)
        except ValueError as error:
            raise SqlError(str(error), self._place(self._tokens[index].start)) from None
        return None if rewritten is None else self._replaced(index, rewritten[1], rewritten[0])

    def _cast(self, index: int) -> tuple[list[Edit], int] | None:
        if self._word(index) not in {"CAST", "TRY_CAST"} or self._word(index + 1) != "(":
            return None
        close = self.closing(index + 1)
        depth, at = 0, close
        for step in range(index + 2, close):
            depth += {"(": 1, ")": -1}.get(self._word(step), 0)
            if depth == 0 and self._word(step) == "AS":
                at = step
        if self._is_boolean_text(index + 2, at, close):
            text = f"upper(CAST({self._rewritten(index + 2, at)} AS STRING))"
            return self._replaced(index, close + 1, text)
        return [*self._edits(index + 2, at), *self._type_edits(at + 1, close)], close + 1

    def _is_boolean_text(self, begin: int, at: int, close: int) -> bool:
        """Return whether a CAST makes a text of a boolean, which the reference spells in upper case."""
        if (
            self._type_of is None
            or self._is_spark
            or self._word(at + 1) not in {"STRING", "VARCHAR", "CHAR"}
            or close - at > 5
        ):
            return False
        return kind_of(self._type_of(self._rewritten(begin, at))) == "BOOLEAN"

    def _type_edits(self, begin: int, end: int) -> Iterator[Edit]:
        index = begin
        while index < end:
            words = [self._word(step) for step in range(index, end)]
            try:
                rewritten = rewrite_type(words)
            except ValueError as error:
                raise SqlError(str(error), self._place(self._tokens[index].start)) from None
            if rewritten is None:
                index += 1
                continue
            count, replacement = rewritten
            yield Edit(self._tokens[index].start, self._tokens[index + count - 1].end + 1, replacement)
            index += count

    def _call(self, index: int) -> tuple[list[Edit], int] | None:
        if self._word(index + 1) not in {"(", "["} or self._word(index - 1) == ".":
            return None
        name = self._word(index)
        if not name or not (name[0].isalpha() or name[0] == "_"):
            return None
        close = self.closing(index + 1)
        if name == "WINDOW":  # which sqlglot takes for the clause of named windows after GROUP BY
            return self._window_call(index, close)
        if name in _OF_ORDER and "NULLS" in map(self._word, range(index + 2, close + 3)):
            return None  # it says of NULL itself what becomes of it
        try:
            replacement = rewrite_call(
                name,
                self._word(index + 1),
                lambda: self._arguments(index + 2, close),
                lambda separators: self._operands(index + 2, close, separators),
                is_spark=self._is_spark,
                is_typed=self._type_of is not None,
            )
        except ValueError as error:
            raise SqlError(str(error), self._place(self._tokens[index].start)) from None
        if replacement is None:
            return None
        return [Edit(self._tokens[index].start, self._tokens[close].end + 1, replacement)], close + 1

    def _window_call(self, index: int, close: int) -> tuple[list[Edit], int]:
        token = self._tokens[index]
        try:
            check_window([self._source(part) for part in self._split(index + 2, close)], self._time_zone)
        except ValueError as error:
            raise SqlError(str(error), self._place(token.start)) from None
        return [Edit(token.start, token.end + 1, f"`{token.text}`")], index + 1

    def _arguments(self, begin: int, end: int) -> list[list[str]]:
        """Return the texts of a call's arguments, each cut into its words at its top level, rewritten themselves."""
        arguments: list[list[str]] = [[]]
        index = begin
        while index < end:
            if self._word(index) == ",":
                arguments.append([])
                index += 1
                continue
            last = self.closing(index) if self._word(index) == "(" else index
            last = self.closing(index + 1) if self._word(index + 1) == "(" and index + 1 < end else last
            arguments[-1].append(self._rewritten(index, last + 1))
            index = last + 1
        return [] if arguments == [[]] else arguments

    def _operands(self, begin: int, end: int, separators: frozenset[str]) -> list[Sql]:
        """Return the arguments of a call between commas, and words that stand for them, rewritten themselves."""
        ranges, first, index = [], begin, begin
        while index < end:
            if self._word(index) in {"(", "["}:
                index = self.closing(index)
            elif self._word(index) == "," or self._word(index) in separators:
                ranges.append((first, index))
                first = index + 1
            index += 1
        if end > begin:
            ranges.append((first, end))
        texts = [self._rewritten(*range_) for range_ in ranges if range_[1] > range_[0]]
        return [Sql(text, None if self._type_of is None else self._type_of(text)) for text in texts]

    def _rewritten(self, begin: int, end: int, is_operand: bool = False) -> str:
        if end <= begin:
            return ""
        start, stop = self._tokens[begin].start, self._tokens[end - 1].end + 1
        parts, copied = [], start
        for edit in sorted(self._edits(begin, end, is_operand=is_operand)):
            parts += [self._text[copied : edit.start], edit.replacement]
            copied = edit.end
        return "".join((*parts, self._text[copied:stop]))
