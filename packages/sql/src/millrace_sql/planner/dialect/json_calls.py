"""JSON_VALUE, JSON_QUERY, JSON_OBJECT and their kin, whose arguments have clauses, and the predicate IS JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from millrace_catalog.expressions import json_functions
from millrace_catalog.expressions.function import Sql, literal_text
from millrace_catalog.expressions.json_functions import Fallbacks, JsonPath
from millrace_catalog.types import STRING, DataType

T = TypeVar("T")

_MADE = ("JSON", "JSON_ARRAY", "JSON_OBJECT")
"""Functions whose results are JSON within others, not texts."""

_FUNCTIONS = ("JSON_VALUE", "JSON_QUERY", "JSON_EXISTS", "JSON_STRING", *_MADE)
_KINDS = ("VALUE", "OBJECT", "ARRAY", "SCALAR")
_OPERATORS = ("+", "-", "*", "/", "%", "||", "DIV", "=", "<", ">", "<=", ">=", "<>", "!=")
_EMPTY = {"NULL": None, "EMPTY ARRAY": "'[]'", "EMPTY OBJECT": "'{}'"}
_TRUTHS = {"TRUE": "TRUE", "FALSE": "FALSE", "UNKNOWN": "NULL"}
_WRAPPERS = {
    "WITHOUT WRAPPER": "",
    "WITHOUT ARRAY WRAPPER": "",
    "WITH WRAPPER": "UNCONDITIONAL",
    "WITH ARRAY WRAPPER": "UNCONDITIONAL",
    "WITH UNCONDITIONAL WRAPPER": "UNCONDITIONAL",
    "WITH UNCONDITIONAL ARRAY WRAPPER": "UNCONDITIONAL",
    "WITH CONDITIONAL WRAPPER": "CONDITIONAL",
    "WITH CONDITIONAL ARRAY WRAPPER": "CONDITIONAL",
}


class JsonRewriter:
    """Rewrite calls of functions of JSON.

    Args:
        word: Returns the token at an index, in upper case, a quoted one as empty; empty behind the last one.
        split: Returns the ranges of tokens between the commas from one index to another.
        closing: Returns the index of the token that closes what the token at an index opens.
        rewrite: Returns the text of a range of tokens, rewritten; with True, as an operand of what is around it.
        end_of_operand: Returns the index behind the operand that begins at an index; None where none does.
        type_of: Returns types; None where they are not looked up yet.
        is_spark: Whether numbers are spelled as Spark spells them.
    """

    def __init__(
        self,
        word: Callable[[int], str],
        split: Callable[[int, int], list[tuple[int, int]]],
        closing: Callable[[int], int],
        rewrite: Callable[[int, int, bool], str],
        end_of_operand: Callable[[int], int | None],
        type_of: Callable[[str], DataType | None] | None,
        *,
        is_spark: bool,
    ) -> None:
        self._word = word
        self._split = split
        self._closing = closing
        self._rewrite = rewrite
        self._end_of_operand = end_of_operand
        self._type_of = type_of
        self._is_spark = is_spark

    def predicate(self, index: int) -> tuple[str, int] | None:
        """Return the text of an operand with IS JSON behind it, and the index behind that; None for another operand.

        Raises:
            ValueError: The operand is a part of an expression that is not in parentheses.
        """
        end = self._end_of_operand(index)
        if end is None or self._word(end) != "IS":
            return None
        is_negated = self._word(end + 1) == "NOT"
        behind = end + (3 if is_negated else 2)
        if self._word(behind - 1) != "JSON" or self._word(behind) == "(":
            return None
        if self._word(index - 1) in _OPERATORS:
            raise ValueError("IS JSON stands behind a column, a call or parentheses: write (a || b) IS JSON")
        kind = self._word(behind) if self._word(behind) in _KINDS else ""
        value = self._rewrite(index, end, True)
        text = json_functions.is_json(value, kind or "VALUE", negated=is_negated)
        return text, behind + (1 if kind else 0)

    def call(self, index: int) -> tuple[str, int] | None:
        """Return the text of the call that begins at a token, and the index behind it; None for another call.

        Raises:
            ValueError: A clause has no counterpart.
        """
        name = self._word(index)
        if name not in _FUNCTIONS or self._word(index - 1) == "." or self._word(index + 1) != "(":
            return None
        close = self._closing(index + 1)
        ranges = self._split(index + 2, close) if close > index + 2 else []
        if name in {"JSON_VALUE", "JSON_QUERY", "JSON_EXISTS"}:
            return self._at_path(name, ranges), close + 1
        if name in {"JSON_STRING", "JSON"}:
            if len(ranges) != 1:
                raise ValueError(f"{name} takes one argument, not {len(ranges)}")
            return (self._json(*ranges[0]) if name == "JSON_STRING" else self._text(*ranges[0])), close + 1
        return self._made(name, ranges), close + 1

    def _text(self, begin: int, end: int) -> str:
        return self._rewrite(begin, end, False)

    def _at_path(self, name: str, ranges: list[tuple[int, int]]) -> str:
        if len(ranges) != 2:
            raise ValueError(f"{name} is written {name}(text, 'path')")
        value, (first, end) = self._text(*ranges[0]), ranges[1]
        path = JsonPath.of(name, self._text(first, first + 1))
        clauses = self._clauses(name, first + 1, end, path)
        if name == "JSON_EXISTS":
            return f"({json_functions.json_exists(value, path, clauses.get('ERROR') or 'FALSE')})"
        fallbacks = Fallbacks(clauses.get("EMPTY"), clauses.get("ERROR"))
        returned = clauses.get("RETURNING") or ""
        if name == "JSON_VALUE":
            return json_functions.json_value(value, path, fallbacks, returned, is_spark=self._is_spark)
        if returned not in {"", "STRING", "VARCHAR"}:
            raise ValueError(f"JSON_QUERY returns a text here: write from_json(JSON_QUERY(x, path), '{returned}')")
        return json_functions.json_query(value, path, fallbacks, clauses.get("WRAPPER") or "")

    def _clauses(self, name: str, index: int, end: int, path: JsonPath) -> dict[str, str | None]:
        """Return the clauses behind a path: RETURNING, WRAPPER, and what there is ON EMPTY and ON ERROR."""
        clauses: dict[str, str | None] = {}
        while index < end:
            begin = index
            if self._word(index) == "RETURNING":
                index = self._until(index + 1, end, ("NULL", "ERROR", "DEFAULT", "WITH", "WITHOUT", "EMPTY"))
                clauses["RETURNING"] = self._text(begin + 1, index).upper()
                continue
            if self._word(index) in {"WITH", "WITHOUT"}:
                index = self._until(index, end, ("WRAPPER",)) + 1
                clauses["WRAPPER"] = self._chosen(name, _WRAPPERS, begin, index)
                continue
            index = self._until(index, end, ("ON",))
            case = self._word(index + 1)
            if case not in {"EMPTY", "ERROR"}:
                raise ValueError(f"{name} with {self._text(begin, end)}: expected ON EMPTY or ON ERROR")
            clauses[case] = self._fallback(name, begin, index, case, path)
            index += 2
        return clauses

    def _fallback(self, name: str, begin: int, end: int, case: str, path: JsonPath) -> str | None:
        if self._word(begin) == "DEFAULT" and name == "JSON_VALUE":
            return self._text(begin + 1, end)
        if self._word(begin) == "ERROR" and end == begin + 1:
            reason = "there is nothing" if case == "EMPTY" else "there is no such value"
            return json_functions.failure(name, path.steps, reason)
        if name == "JSON_EXISTS":
            return self._chosen(name, _TRUTHS, begin, end)
        return self._chosen(name, _EMPTY if name == "JSON_QUERY" else {"NULL": None}, begin, end)

    def _chosen(self, name: str, choices: Mapping[str, T], begin: int, end: int) -> T:
        written = " ".join(self._word(index) for index in range(begin, end))
        if written not in choices:
            raise ValueError(f"{name} does not take {written}: expected one of {', '.join(choices)}")
        return choices[written]

    def _until(self, index: int, end: int, words: tuple[str, ...]) -> int:
        """Return the index of the next of some words that is in no parentheses; the end where there is none."""
        while index < end and self._word(index) not in words:
            index = self._closing(index) + 1 if self._word(index) in {"(", "["} else index + 1
        return min(index, end)

    def _made(self, name: str, ranges: list[tuple[int, int]]) -> str:
        keeps_null = name == "JSON_OBJECT"
        if ranges:
            first, end = ranges[-1]
            clause = " ".join(self._word(index) for index in range(end - 3, end))
            if clause in {"NULL ON NULL", "ABSENT ON NULL"}:
                keeps_null = clause == "NULL ON NULL"
                ranges = [*ranges[:-1], (first, end - 3)] if end - 3 > first else ranges[:-1]
        if name == "JSON_ARRAY":
            return json_functions.json_array([self._json(*range_) for range_ in ranges], keeps_null=keeps_null)
        return json_functions.json_object([self._pair(*range_) for range_ in ranges], keeps_null=keeps_null)

    def _pair(self, begin: int, end: int) -> tuple[str, str]:
        first = begin + 1 if self._word(begin) == "KEY" else begin
        between = self._until(first, end, ("VALUE", ":"))
        key = literal_text(self._text(first, between))
        if between == end or key is None:
            raise ValueError("JSON_OBJECT is written JSON_OBJECT('name' VALUE x, ...), with texts as names")
        return key, self._json(between + 1, end)

    def _json(self, begin: int, end: int) -> str:
        """Return a value as JSON."""
        text = self._text(begin, end)
        if self._word(begin) in _MADE and self._word(begin + 1) == "(" and self._closing(begin + 1) == end - 1:
            return text
        type_ = None if self._type_of is None else self._type_of(text)
        return json_functions.json_text(Sql(text, STRING if literal_text(text) is not None else type_))
