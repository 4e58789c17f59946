"""Errors in a script: what is wrong, and the place, shown with its line and a caret under it."""

from __future__ import annotations

import re
import unicodedata

from millrace.errors import MillraceError
from millrace.options.secrets import is_secret
from millrace_sql.script_texts import ScriptPosition

_SHOWN_BEFORE, _SHOWN_AFTER = 60, 40
"""Characters of a long line that are shown on both sides of the place."""

_OPTION = re.compile(
    r"""(?:'(?P<quoted>[^'\n]*+)'|"(?P<double_quoted>[^"\n]*+)"|(?<![\w.-])(?P<plain>[\w.-]++))"""
    r"""\s*+(?:=\s*+)?+"""
    r"""(?P<value>'(?:[^']++|'')*+(?:'|\Z)|"[^"]*+(?:"|\Z)|(?:(?<==)|(?<==\s))[^\s'";]++)"""
)
"""A key and its value, with or without the sign between them: what is wrong may be that it is missing."""


PASSWORD_IN_URL = re.compile(
    r"(?:(?P<user>://[^/@\s:']*:(?=[^/@\s']*@))|[?&;]password=)(?P<password>(?(user)[^/@\s']*|[^&;\s']*))",
    re.IGNORECASE,
)
"""The password in the URL of a schema registry or of a database."""


class SqlError(MillraceError):
    """A statement cannot be executed.

    Args:
        message: What is wrong, what is expected, and what to do.
        position: The place in the script; None where there is none.
        excerpt: The line of that place and a caret under it, as `excerpt_of` makes them; empty where there is none.
    """

    def __init__(self, message: str, position: ScriptPosition | None = None, excerpt: str = "") -> None:
        super().__init__(message, position, excerpt)
        self.message = message
        self.position = position if position and position.line else None
        self.excerpt = excerpt

    def with_script(self, script: str) -> SqlError:
        """Return the same error, with the line of its place in a script."""
        if self.position is None or self.excerpt:
            return self
        return type(self)(self.message, self.position, excerpt_of(script, self.position))

    def __str__(self) -> str:
        place = f"line {self.position.line}, column {self.position.column}: " if self.position else ""
        return f"{place}{self.message}" + (f"\n{self.excerpt}" if self.excerpt else "")


class SqlSyntaxError(SqlError):
    """A script is not SQL that millrace understands."""


class UnfinishedSqlError(SqlSyntaxError):
    """A script ends within a statement, a text, a comment or brackets; more of it may make it right."""


def excerpt_of(script: str, position: ScriptPosition) -> str:
    """Return the line of a place in a script, and below it a caret under the place; values of secrets are hidden."""
    begin = _offset_of_line(script, position.line)
    line, _, _ = script[begin:].partition("\n")
    line = line.rstrip("\r")
    column = min(position.column - 1, len(line))
    line, column = _without_secrets(script, begin, line, column)
    first, last = max(0, column - _SHOWN_BEFORE), column + _SHOWN_AFTER
    before, after = line[first:column], line[column:last]
    if first:
        before = "..." + before
    if last < len(line):
        after += "..."
    return f"  {before}{after}\n  {''.join(map(_blank, before))}^"


def hide_secrets(script: str) -> str:
    """Return a script with ``***`` for the values of secret options."""
    parts, copied = [], 0
    for match in _OPTION.finditer(script):
        if is_secret(match["quoted"] or match["double_quoted"] or match["plain"] or "") and match["value"]:
            parts += [script[copied : match.start("value")], "'***'"]
            copied = match.end("value")
    return PASSWORD_IN_URL.sub(_without_password, "".join((*parts, script[copied:])))


def _without_password(match: re.Match[str]) -> str:
    start, end = (offset - match.start() for offset in match.span("password"))
    return f"{match[0][:start]}***{match[0][end:]}"


def _offset_of_line(script: str, line: int) -> int:
    offset = 0
    for _ in range(line - 1):
        offset = script.find("\n", offset) + 1
    return offset


def _without_secrets(script: str, begin: int, line: str, column: int) -> tuple[str, int]:
    """Replace the values of secret options in a line, which may begin in lines before it, and move the column along."""
    parts, copied, moved = [], 0, column
    for match in _OPTION.finditer(script, 0, begin + len(line)):
        key = match["quoted"] or match["double_quoted"] or match["plain"] or ""
        start, end = (min(max(offset - begin, 0), len(line)) for offset in match.span("value"))
        if start == end or not is_secret(key):
            continue
        parts += [line[copied:start], "'***'"]
        copied = end
        if column >= end:
            moved += 5 - (end - start)
        elif column > start:
            moved = moved - (column - start)
    return "".join((*parts, line[copied:])), moved


def _blank(character: str) -> str:
    """Return the blanks that are as wide as a character in a terminal."""
    if character == "\t":
        return character
    if unicodedata.combining(character):
        return ""
    return "  " if unicodedata.east_asian_width(character) in "WF" else " "
