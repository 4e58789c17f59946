"""Split a line of CSV into the texts of its values."""

from __future__ import annotations

import re

from millrace_formats.csv.options import CsvOptions

_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_BREAKS = "\r\n"
_COMMENT = re.compile(r"[ \t]*#[^\r\n]*(?:\r\n|\r|\n|\Z)")


class LineSplitter:
    """Split messages of one dialect.

    Args:
        options: The options of csv.
        max_values: The number of values that a line may have.
    """

    def __init__(self, options: CsvOptions, max_values: int) -> None:
        self._max_values = max_values
        self._delimiter = options.delimiter
        self._quote = options.quote
        self._escape = options.escape_character
        self._comments = options.allow_comments
        ends, escape = re.escape(self._delimiter + _BREAKS), re.escape(self._escape or "")
        self._bare = re.compile(f"[^{ends}{escape}]*")
        self._inner = re.compile(f"[^{re.escape(self._quote or '')}{escape}]*") if self._quote else self._bare
        self._quotes = re.compile(re.escape(self._quote or " ") + "+")
        self._ends = frozenset(self._delimiter + _BREAKS)

    def split(self, text: str) -> list[str] | None:
        """Split a message into the texts of its values; None when it holds nothing but comments.

        Raises:
            ValueError: The message is not one line of CSV.
        """
        at = self._after_comments(text)
        if at and at == len(text):
            return None
        values = []
        while True:
            value, at = self._value(text, at)
            values.append(value)
            if text[at : at + 1] != self._delimiter:
                break
            if len(values) == self._max_values:
                raise ValueError(f"more than {self._max_values} values")
            at += 1
        if text[at:].strip(_BREAKS):
            raise ValueError("a second line in the message")
        return values

    def _after_comments(self, text: str) -> int:
        at = 0
        while self._comments and (match := _COMMENT.match(text, at)):
            at = match.end()
        return at

    def _value(self, text: str, at: int) -> tuple[str, int]:
        if self._quote is not None and text.startswith(self._quote, at):
            return self._quoted(text, at + 1)
        parts: list[str] = []
        while True:
            at = self._run(self._bare, text, at, parts)
            if at >= len(text) or text[at] in self._ends:
                return "".join(parts), at
            at = self._escaped(text, at, parts)

    def _quoted(self, text: str, at: int) -> tuple[str, int]:
        if self._escape is not None:
            return self._quoted_with_escapes(text, at)
        quote = self._quote or ""
        for run in self._quotes.finditer(text, at):
            end = run.end()
            if (end - run.start()) % 2:  # pairs that stand for one, and then the one that closes
                return text[at : end - 1].replace(quote * 2, quote), self._after_quote(text, end)
        raise ValueError("a closing quote is missing")

    def _quoted_with_escapes(self, text: str, at: int) -> tuple[str, int]:
        parts: list[str] = []
        while True:
            at = self._run(self._inner, text, at, parts)
            if at >= len(text):
                raise ValueError("a closing quote is missing")
            if text[at] != self._quote:
                at = self._escaped(text, at, parts)
            elif text.startswith(self._quote, at + 1):
                parts.append(text[at])
                at += 2
            else:
                return "".join(parts), self._after_quote(text, at + 1)

    def _after_quote(self, text: str, at: int) -> int:
        while at < len(text) and text[at] not in self._ends:
            if text[at] > " ":
                raise ValueError(f"{text[at]!r} after a closing quote at character {at}")
            at += 1
        return at

    @staticmethod
    def _run(ordinary: re.Pattern[str], text: str, at: int, parts: list[str]) -> int:
        """Take ordinary characters."""
        match = ordinary.match(text, at)
        if match:
            parts.append(match[0])
            return match.end()
        return at

    @staticmethod
    def _escaped(text: str, at: int, parts: list[str]) -> int:
        if at + 1 >= len(text):
            raise ValueError("nothing after the escape character")
        parts.append(_ESCAPED.get(text[at + 1], text[at + 1]))
        return at + 2
