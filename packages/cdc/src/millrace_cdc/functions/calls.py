"""Calls of user-defined functions in the text of an expression.

Each call is taken out of the text before that is parsed. A name of as many characters stands in its place, as a
column: so all else has its place still, and a call is to the expression around it what a column is.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_FIRST = 0xE000
"""The first of the characters for private use that names of calls begin with."""

_MOST = 0x1800
_FILLER = "\uf8ff"
_TOKEN = re.compile(r"'(?:[^']|'')*'|`(?:[^`]|``)*`|(?P<word>[^\W\d]\w*)\s*(?P<open>\()|[^\W\d]\w*|.", re.DOTALL)


@dataclass(frozen=True)
class FunctionCall:
    """A call.

    Attributes:
        column: The name that stands in its place.
        function: The name of the function, in upper case.
        text: The call, as it is written.
        offset: Its place in the text around it.
        arguments: Its arguments, in which calls are names, too, each with its place.
    """

    column: str
    function: str
    text: str
    offset: int
    arguments: tuple[tuple[str, int], ...]


def is_call(column: str) -> bool:
    """Return whether the name of a column stands for a call."""
    return _FIRST <= ord(column[0]) < _FIRST + _MOST


class CallExtractor:
    """Take calls out of the texts of a rule.

    Args:
        functions: The names of the functions, in upper case.
        first: The number of calls of other rules, whose names are not used again.

    Attributes:
        calls: The calls that were found, inner ones before outer ones.
    """

    def __init__(self, functions: Collection[str], first: int = 0) -> None:
        self._functions = functions
        self._first = first
        self.calls: list[FunctionCall] = []

    def extract(self, text: str, start: int = 0) -> str:
        """Return a text with names in the place of calls.

        Args:
            text: The text.
            start: Its place in the value that it is from.
        """
        if not self._functions:
            return text
        result, index = "", 0
        while index < len(text):
            token = _token(text, index)
            end = token.end()
            if token["open"] and token["word"].upper() in self._functions:
                arguments, end = _arguments(text, token.end())
                if end:
                    result += self._take(text[index:end], start + index, token["word"], arguments, start)
                    index = end
                    continue
                # Its end is missing, as the parser will say
                end = token.end()
            result += token[0]
            index = end
        return result

    def _take(self, text: str, offset: int, function: str, arguments: list[tuple[str, int]], start: int) -> str:
        inner = tuple((self.extract(argument, start + place), start + place) for argument, place in arguments)
        number = self._first + len(self.calls)
        if number >= _MOST:
            raise ValueError(f"a pipeline may call functions {_MOST} times at most")
        column = chr(_FIRST + number) + _FILLER * (len(text) - 3)
        self.calls.append(FunctionCall(column, function.upper(), text, offset, inner))
        return f"`{column}`"


def _arguments(text: str, start: int) -> tuple[list[tuple[str, int]], int]:
    """Return the arguments behind an opening parenthesis with their places, and the end of the call; 0 without one."""
    depth, index, first = 1, start, start
    arguments: list[tuple[str, int]] = []
    while index < len(text):
        token = _token(text, index)
        symbol, index = token[0][-1], token.end()
        if token["open"] or (symbol in "([" and len(token[0]) == 1):
            depth += 1
        elif symbol in ")]" and len(token[0]) == 1:
            depth -= 1
        if depth == 0 or (depth == 1 and token[0] == ","):
            arguments.append((text[first : index - 1], first))
            first = index
        if depth == 0:
            is_empty = len(arguments) == 1 and not arguments[0][0].strip()
            return ([] if is_empty else arguments), index
    return [], 0


def _token(text: str, index: int) -> re.Match[str]:
    # Any character is a token
    return _TOKEN.match(text, index)  # type: ignore[return-value] # there is one
