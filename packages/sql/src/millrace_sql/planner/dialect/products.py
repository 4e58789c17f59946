"""Products, quotients and subscripts of a query, token by token, as Spark spells what the reference means by them."""

from __future__ import annotations

import re
from collections.abc import Callable

from millrace_catalog.expressions.function import Sql
from millrace_catalog.expressions.functions.nested import subscript
from millrace_catalog.expressions.translation import divide
from millrace_catalog.expressions.value_types import is_integer, kind_of
from millrace_catalog.types import ArrayType, DataType, MapType, RowType

TypeOf = Callable[[str], DataType | None]
"""Returns the type of an expression of the query; None where it is not known."""

_OPERATORS = ("*", "/", "%", "DIV")
_KEYWORDS = """
ALL AND ANY AS BETWEEN BY CROSS DATE DISTINCT DIV ELSE END ESCAPE EXCEPT EXISTS FILTER FROM FULL GROUP HAVING IN INNER
INTERSECT INTERVAL IS JOIN LATERAL LIKE LIMIT NOT ON OR ORDER OVER QUALIFY RLIKE SELECT SOME THEN TIMESTAMP UNION USING
VALUES WHEN WHERE WITH
"""
_NO_OPERANDS = frozenset(_KEYWORDS.split())
_CLAUSES = ("FILTER", "OVER")


class ProductRewriter:
    """Rewrite products that hold a subscript or a quotient.

    Args:
        word: Returns the token at an index, in upper case, a quoted one as empty; empty behind the last one.
        is_value: Returns whether the token at an index is a name, a number or a text.
        closing: Returns the index of the token that closes what the token at an index opens.
        rewrite: Returns the text of a range of tokens, rewritten; with True, without a product at its begin.
        type_of: Returns types; None where quotients are left as they are.
    """

    def __init__(
        self,
        word: Callable[[int], str],
        is_value: Callable[[int], bool],
        closing: Callable[[int], int],
        rewrite: Callable[[int, int, bool], str],
        type_of: TypeOf | None,
    ) -> None:
        self._word = word
        self._is_value = is_value
        self._closing = closing
        self._rewrite = rewrite
        self._type_of = type_of

    def rewrite(self, index: int) -> tuple[str, int] | None:
        """Return the text of the product that begins at a token, and the index behind it; None to keep it.

        Raises:
            ValueError: Its meaning cannot be told; the message has the spellings.
        """
        if self._word(index - 1) in {*_OPERATORS, "INTERVAL"} or self._word(index - 2) == "INTERVAL":
            return None
        first = self._operand(index)
        if first is None:
            return None
        text, end, is_changed = first
        while self._word(end) in _OPERATORS:
            operator = self._word(end)
            operand = self._operand(end + 1)
            if operand is None:
                break
            right, end, is_other = operand
            is_changed |= is_other
            quotient = self._quotient(text, right) if operator == "/" else None
            is_changed |= quotient is not None
            text = quotient or f"{text} {operator} {right}"
        return (text, end) if is_changed else None

    def average(self, index: int) -> tuple[str, int] | None:
        """Return AVG of integers, which is an integer of their type, and the index behind it; None to keep a call.

        Raises:
            ValueError: The type of its argument is not known; the message has the spellings.
        """
        if self._type_of is None or self._word(index) != "AVG" or self._word(index + 1) != "(":
            return None
        close = self._closing(index + 1)
        value = self._rewrite(index + 2, close, False)
        type_ = self._type_of(re.sub(r"^\s*(?:DISTINCT|ALL)\s", "", value, flags=re.IGNORECASE))
        if type_ is None:
            raise ValueError(
                f"the type of {value} is not known here: write SUM({value}) DIV COUNT({value}) for the average of "
                f"integers, without its fraction, or AVG(CAST({value} AS DOUBLE)) for one with it"
            )
        if not is_integer(type_):
            return None
        end = self.end_of_call(close)
        clauses = f" {self._rewrite(close + 1, end, False)}" if end > close + 1 else ""
        quotient = f"SUM({value}){clauses} DIV COUNT({value}){clauses}"
        return f"CAST({quotient} AS {kind_of(type_)})", end

    def _begins_operand(self, index: int) -> bool:
        """Return whether a token may be the first one of an operand, not the parenthesis or field of one before."""
        return self._word(index - 1) != "." and not (self._word(index) == "(" and self._is_called(index - 1))

    def end_of_call(self, index: int) -> int:
        """Return the index behind a call that closes at a token, and behind its clauses FILTER and OVER."""
        end = index + 1
        while self._word(end) in _CLAUSES:
            end = self._closing(end + 1) + 1 if self._word(end + 1) == "(" else end + 2
        return end

    def _is_called(self, index: int) -> bool:
        word = self._word(index)
        return word in _CLAUSES or (self._is_value(index) and " " not in word and word not in _NO_OPERANDS)

    def _operand(self, index: int) -> tuple[str, int, bool] | None:
        """Return an operand's text, the index behind it, and whether it has a subscript."""
        begin = index
        sign = ""
        if self._word(index) in {"-", "+"}:
            sign, index = self._word(index), index + 1
            begin = index
        end = self.end_of_operand(index)
        if end is None:
            return None
        text, is_changed = self._rewrite(begin, end, True), False
        while self._word(end) == "[" and self._behind(end) is not None:
            close = self._closing(end)
            text, is_changed = self._subscript(text, self._rewrite(end + 1, close, False)), True
            end = close + 1
            while self._word(end) == ".":
                text += f".{self._rewrite(end + 1, end + 2, True)}"
                end += 2
        return sign + text, end, is_changed

    def end_of_operand(self, index: int) -> int | None:
        """Return the index behind the column, call or parenthesis that begins at a token; None for another token."""
        word = self._word(index)
        if not self._begins_operand(index):
            return None
        if word == "(":
            return self._behind(index)
        if word == "CASE":
            return self._end_of_case(index)
        if not self._is_value(index) or " " in word or word in _NO_OPERANDS:
            return None
        end = index + 1
        while self._word(end) == ".":
            end += 2
        if self._word(end) == "(":
            behind = self._behind(end)
            return None if behind is None else self.end_of_call(behind - 1)
        if word in {"ARRAY", "MAP"} and self._word(end) == "[":
            return self._behind(end)
        return end

    def _behind(self, opening: int) -> int | None:
        """Return the index behind the token that closes one; None where nothing does."""
        close = self._closing(opening)
        return close + 1 if self._word(close) in {")", "]"} else None

    def _end_of_case(self, index: int) -> int | None:
        depth = 0
        while word := self._word(index) or self._is_value(index):
            depth += {"CASE": 1, "END": -1}.get(str(word), 0)
            index += 1
            if depth == 0:
                return index
        return None

    def _subscript(self, value: str, key: str) -> str:
        type_ = self._type_of(value) if self._type_of is not None else None
        if key == "0" and self._type_of is not None and not isinstance(type_, MapType):
            raise ValueError(
                f"{value}[0] is no element: arrays are counted from 1; SET 'table.sql-dialect' = 'spark' counts from 0"
            )
        known = type_ if isinstance(type_, ArrayType | MapType | RowType) or kind_of(type_) == "VARIANT" else None
        return str(subscript(Sql(value, known), Sql(key)))

    def _quotient(self, left: str, right: str) -> str | None:
        if self._type_of is None:
            return None
        types = self._type_of(left), self._type_of(right)
        if None in types and all(type_ is None or is_integer(type_) for type_ in types):
            raise ValueError(
                f"the types of {left} / {right} are not known here: write {left} DIV {right} for a quotient of "
                f"integers, without its fraction, or CAST({left} AS DOUBLE) / {right} for one with it"
            )
        if not all(map(is_integer, types)):
            return None
        return divide(Sql(left, types[0]), Sql(right, types[1]))
