"""Cut queries and expressions out of a script as they are written, since Spark parses them.

Their brackets must be balanced, and quotes and comments closed. Within texts a backslash escapes the next character, as
in Spark, unless ``r`` stands before the text.
"""

from __future__ import annotations

import re
from typing import Literal

from millrace_sql.parser.scanner import Script

Passage = Literal["query", "query of a set", "expression", "added column"]

_MARK = re.compile(
    r"""(?P<quote>['"`])
    |(?P<line_comment>--[^\n]*+)
    |(?P<comment>/\*(?!\+))
    |(?P<open>[(\[])
    |(?P<close>[)\]])
    |(?P<comma>,)
    |(?P<semicolon>;)
    |(?<![\w$.])(?P<word>(?:CASE|END|COMMENT|FIRST|AFTER|AS|INSERT)(?![\w$]))
    |(?P<other>[\w$]++|[^\s\ufeff])""",
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = {
    "'": re.compile(r"'(?:[^'\\]++|\\.|'')*+'", re.DOTALL),
    '"': re.compile(r'"(?:[^"\\]++|\\.|"")*+"', re.DOTALL),
    "`": re.compile(r"`(?:[^`]++|``)*+`"),
}
_RAW = {"'": re.compile("'[^']*+'"), '"': re.compile('"[^"]*+"')}
_CLOSING = {"(": ")", "[": "]"}


def end_of_passage(script: Script, start: int, passage: Passage) -> int:
    """Return the offset behind a query or an expression, without blanks and comments at its end.

    A query ends before ``;``, one of a statement set also before the set's END. An expression also ends before ``,``,
    a closing parenthesis and ``COMMENT 'text'``, that of an added column also before FIRST and AFTER.

    Args:
        script: The script.
        start: The offset of its first character.
        passage: What it is.

    Raises:
        SqlSyntaxError: Brackets, quotes or comments are not balanced, or a query contains an INSERT.
    """
    return _PassageReader(script, start, passage).end()


class _PassageReader:
    def __init__(self, script: Script, start: int, passage: Passage) -> None:
        self.script = script
        self.text = script.text
        self.passage = passage
        self.start = self.offset = self.written = start
        self.open_brackets: list[int] = []
        self.open_cases = 0
        self.word_before = ""

    def end(self) -> int:
        while match := _MARK.search(self.text, self.offset):
            kind = match.lastgroup or ""
            if kind in ("line_comment", "comment"):
                self.offset = match.end() if kind == "line_comment" else self.script.end_of_comment(match.start())
                continue
            if self._ends(kind, match):
                break
            self.offset = self._end_of_mark(kind, match)
            self.written = self.offset
            self.word_before = match[0].upper() if kind in ("word", "other") else ""
        if self.open_brackets:
            raise self._open_bracket()
        return self.written

    def _ends(self, kind: str, match: re.Match[str]) -> bool:
        if kind == "semicolon":
            return True
        if self.open_brackets:
            return False
        if kind == "word":
            return self._ends_before_word(match)
        return kind in ("comma", "close") and not self.passage.startswith("query")

    def _ends_before_word(self, match: re.Match[str]) -> bool:
        word = match[0].upper()
        if word == "END":
            ends = self.passage == "query of a set" and not self.open_cases and self.word_before != "AS"
            # Behind a second END the query could not be distinguished from the end of its set
            return ends and self._is_last(match.end(), "END")
        if self.passage.startswith("query") or match.start() == self.start:
            return False
        if word == "COMMENT":
            return self.script.scan(match.end()).kind == "text"
        if self.passage == "added column" and word == "FIRST":
            return self._is_last(match.end(), ",")
        if self.passage == "added column" and word == "AFTER":
            name = self.script.scan(match.end())
            return name.kind in ("word", "quoted") and self._is_last(name.end, ",")
        return False

    def _is_last(self, offset: int, *others: str) -> bool:
        following = self.script.scan(offset)
        return following.kind == "end" or following.text.upper() in (";", *others)

    def _end_of_mark(self, kind: str, match: re.Match[str]) -> int:
        if kind == "quote":
            return self._end_of_quoted(match.start())
        if kind == "open":
            self.open_brackets.append(match.start())
        elif kind == "close":
            self._close(match)
        elif kind == "word":
            self._check_insert(match)
            self.open_cases += {"CASE": 1, "END": -min(1, self.open_cases)}.get(match[0].upper(), 0)
        return match.end()

    def _end_of_quoted(self, start: int) -> int:
        quote = self.text[start]
        is_raw = self.word_before == "R" and self.written == start and quote != "`"
        match = (_RAW if is_raw else _QUOTED)[quote].match(self.text, start)
        if match is None:
            raise self.script.unclosed(start, self._hint_on_unclosed(quote, start))
        return match.end()

    def _hint_on_unclosed(self, quote: str, start: int) -> str:
        line, _, _ = self.text[start:].partition("\n")
        escapes = quote != "`" and f"\\{quote}" in line
        return r"; in a query a backslash escapes the quote behind it, write \\ for a backslash" if escapes else ""

    def _check_insert(self, match: re.Match[str]) -> None:
        """Refuse INSERT INTO within a query: Spark would execute it, on tables of its own."""
        if match[0].upper() != "INSERT" or not self.passage.startswith("query"):
            return
        if self.script.scan(match.end()).text.upper() in ("INTO", "OVERWRITE"):
            raise self.script.error(
                "expected ';' before INSERT; an INSERT begins its own statement, with WITH and SELECT behind it",
                match.start(),
            )

    def _close(self, match: re.Match[str]) -> None:
        if not self.open_brackets:
            raise self.script.error(f"this {match[0]!r} closes nothing; expected ';' or the end", match.start())
        expected = _CLOSING[self.text[self.open_brackets[-1]]]
        if match[0] != expected:
            place = self.script.position(self.open_brackets[-1])
            raise self.script.error(
                f"expected {expected!r} for the bracket at line {place.line}, column {place.column}, "
                f"found {match[0]!r}",
                match.start(),
            )
        self.open_brackets.pop()

    def _open_bracket(self) -> Exception:
        start = self.open_brackets[-1]
        bracket = self.text[start]
        message = f"this {bracket!r} is not closed; expected {_CLOSING[bracket]!r} behind it"
        at_end = self.script.scan(self.written).kind == "end"
        return (self.script.unfinished if at_end else self.script.error)(message, start)
