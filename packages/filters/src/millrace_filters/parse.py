r"""Parse the text of a header filter into its `Expression`; the grammar is in ``expression.lark``."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from typing import cast
from unicodedata import east_asian_width

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from millrace.options import ShownValueError
from millrace_filters.expression import Condition, Expression, Link, Operator, Term

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def parse(text: str) -> Expression:
    """Parse a header filter.

    Raises:
        ShownValueError: The text is not an expression; the message shows it with a caret under the first mistake, and
            says what was expected there.
    """
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _error(text, error) from None
    terms = [_term(child) for child in tree.children if isinstance(child, Tree)]
    operators = [cast("Operator", str(child)) for child in tree.children if isinstance(child, Token)]
    return Expression(terms[0], tuple(map(Link, operators, terms[1:])))


@functools.cache
def _parser() -> Lark:
    return Lark.open_from_package(__package__, "expression.lark", start="expression", parser="lalr")


def _term(tree: Tree[Token]) -> Term:
    texts = {token.type: _ESCAPED.sub(r"\1", token) for token in tree.scan_values(lambda _: True)}
    return Term(Condition(texts["KEY"], texts.get("VALUE", "")), negated="NOT" in texts)


def _error(text: str, error: UnexpectedInput) -> ShownValueError:
    position, expected = _position_and_expected(text, error)
    position, problem = _problem(text, position, expected)
    shown = "".join(map(_printable, text))
    columns = sum(2 if east_asian_width(char) in "WF" else 1 for char in shown[:position])
    return ShownValueError(f"header filter, character {position + 1}: {problem}\n  {shown}\n  {' ' * columns}^")


def _position_and_expected(text: str, error: UnexpectedInput) -> tuple[int, Collection[str]]:
    """Return where parsing stopped, and the terminals that could have followed."""
    if isinstance(error, UnexpectedCharacters):
        return cast("int", error.pos_in_stream), error.allowed
    error = cast("UnexpectedToken", error)
    at_end = error.token.type == "$END"
    return (len(text) if at_end else error.token.start_pos), error.expected


def _problem(text: str, position: int, expected: Collection[str]) -> tuple[int, str]:
    """Return the place of the mistake that stopped parsing, and what was expected there."""
    char = text[position : position + 1]
    actual = repr(char) if char else "the end"
    if "\ud800" <= char <= "\udfff":
        return position, "expected text, found half of a surrogate pair, which UTF-8 cannot hold"
    if char == "\\":
        return _escape_problem(text, position)
    if char and char in "()":
        hint = f"terms are joined from left to right; write \\{char} for the character itself"
        return position, f"expected no parentheses, found {actual}: {hint}"
    if char == "!":
        hint = "it may stand once, before a header key; write \\! for the character itself"
        return position, f"expected no '!' here: {hint}"
    if "KEY" in expected:
        return position, f"expected a header key, as in key:value, found {actual}"
    return position, f"expected ':' and the header's value, found {actual}"


def _escape_problem(text: str, position: int) -> tuple[int, str]:
    escaped = text[position + 1 : position + 2]
    if not escaped:
        return position, "expected a character after the backslash; write \\\\ for a backslash"
    expected = "one of & | ! : ( ) \\ or white space after a backslash"
    return position + 1, f"expected {expected}, found {escaped!r}; write \\\\ for a backslash"


def _printable(char: str) -> str:
    """Return ``char``, or one as wide: a line break would move the caret, a surrogate cannot be printed."""
    if char.isprintable():
        return char
    return " " if char.isspace() else "\N{REPLACEMENT CHARACTER}"
