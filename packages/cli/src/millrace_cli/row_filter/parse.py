"""Parse the text of ``--where``; the grammar is in ``row_filter.lark``."""

from __future__ import annotations

import functools
import re
from typing import Any, Literal, cast

from lark import Lark, Token, Transformer, UnexpectedInput, UnexpectedToken

from millrace_cli.errors import CommandError
from millrace_cli.row_filter.evaluate import RowFilter
from millrace_cli.row_filter.syntax import (
    ColumnPath,
    Combination,
    Comparison,
    Condition,
    Constant,
    IsNull,
    Match,
    Not,
    Truth,
    filter_error,
)

_GRAMMAR = "expected conditions on columns, such as amount > 100 AND country IN ('de', 'fr')"


def parse_row_filter(text: str) -> RowFilter:
    """Parse a row filter.

    Raises:
        CommandError: It is none; the message shows the place of the mistake, and what is expected there.
    """
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(text, error) from None
    return RowFilter(text, cast("Condition", _SyntaxBuilder().transform(tree)))


@functools.cache
def _parser() -> Lark:
    return Lark.open_from_package(__package__, "row_filter.lark", parser="lalr", maybe_placeholders=False)


def _syntax_error(text: str, error: UnexpectedInput) -> CommandError:
    at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    position = len(text) if at_end else cast("int", error.pos_in_stream)
    rest = text[position:]
    actual = "the end" if not rest.strip() else repr(re.match(r"\w+|.", rest, re.DOTALL)[0])  # type: ignore[index] # it matches
    hints = {
        '"': "; text is quoted as 'de', a column as `de`",
        "(": "; functions are not supported",
        "+": "; arithmetic is not supported",
        "-": "; arithmetic is not supported",
        "*": "; arithmetic is not supported",
        "/": "; arithmetic is not supported",
        "'": "; close the text with '",
        "`": "; close the name with `",
    }
    return filter_error(text, position, f"{_GRAMMAR}; found {actual}{hints.get(rest[:1], '')}")


class _SyntaxBuilder(Transformer[Token, Any]):
    """Build the syntax tree from the bottom up: lark calls the method of a rule with what the rule holds."""

    def name(self, children: list[Token]) -> Token:
        (token,) = children
        text = token[1:-1].replace("``", "`") if token.type == "QUOTED" else str(token)
        return token.update(value=text)

    def column(self, children: list[Token]) -> ColumnPath:
        names = tuple(str(token) for token in children if token.type != "TEXT")
        keys = [_text(token) for token in children if token.type == "TEXT"]
        return ColumnPath(names, keys[0] if keys else None, children[0].start_pos or 0)

    def literal(self, children: list[Token]) -> Constant:
        (token,) = children
        kinds: dict[str, Literal["number", "text"]] = {"NUMBER": "number", "TEXT": "text"}
        text = _text(token) if token.type == "TEXT" else str(token)
        return Constant(text, kinds.get(token.type, "boolean"), token.start_pos or 0)

    def truth(self, children: list[ColumnPath]) -> Truth:
        return Truth(children[0])

    def comparison(self, children: list[Any]) -> Comparison:
        left, operator, right = children
        return Comparison(left, str(operator), right, operator.start_pos)

    def is_null(self, children: list[ColumnPath]) -> IsNull:
        return IsNull(children[0])

    def is_not_null(self, children: list[ColumnPath]) -> Not:
        return Not(IsNull(children[0]))

    def one_of(self, children: list[Any]) -> Condition:
        column, token, *constants = children
        return Combination("or", tuple(Comparison(column, "=", constant, token.start_pos) for constant in constants))

    def none_of(self, children: list[Any]) -> Not:
        return Not(self.one_of(children))

    def between(self, children: list[Any]) -> Condition:
        column, low, high = children
        bounds = Comparison(column, ">=", low, low.position), Comparison(column, "<=", high, high.position)
        return Combination("and", bounds)

    def not_between(self, children: list[Any]) -> Not:
        return Not(self.between(children))

    def like(self, children: list[Any]) -> Match:
        column, operator, pattern = children
        return Match(column, _text(pattern), operator.lower() == "rlike", pattern.start_pos or 0)

    def not_like(self, children: list[Any]) -> Not:
        return Not(self.like(children))

    def negation(self, children: list[Condition]) -> Not:
        return Not(children[0])

    def and_(self, children: list[Condition]) -> Combination:
        return Combination("and", tuple(children))

    def or_(self, children: list[Condition]) -> Combination:
        return Combination("or", tuple(children))


def _text(token: Token) -> str:
    return token[1:-1].replace("''", "'")
