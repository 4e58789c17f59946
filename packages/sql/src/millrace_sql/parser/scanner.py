"""Cut a script into words, names, texts and symbols.

What the grammar describes is written as the reference has it: a quote within a text is doubled. Queries and expressions
(`millrace_sql.parser.passages`) are Spark's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal, NamedTuple

from millrace_sql.errors import SqlSyntaxError, UnfinishedSqlError, excerpt_of
from millrace_sql.script_texts import ScriptPosition

_TOKEN = re.compile(
    r"""(?P<blank>[\s\ufeff]++|--[^\n]*+)
    |(?P<comment>/\*(?!\+))
    |(?P<number>[0-9]++(?!\w))
    |(?P<word>[\w$]++)
    |(?P<quoted>`(?:[^`]++|``)*+`)
    |(?P<text>'(?:[^']++|'')*+'|"(?:[^"]++|"")*+")
    |(?P<symbol>/\*\+|\*/|.)""",
    re.VERBOSE | re.DOTALL,
)

_SETTING_KEY = re.compile(r"""[^\s=;'"]*+""")
_SETTING_VALUE = re.compile(r"(?:[^\s;-]|-(?!-)|[^\S\n]++(?!--|;|\s|\Z))*+")

Kind = Literal["word", "number", "quoted", "text", "symbol", "end"]


class ScannedToken(NamedTuple):
    """A piece of a script.

    Attributes:
        kind: ``quoted`` is a name between backticks, ``text`` a text in quotes; both with what they stand between.
        start: The offset at which it begins.
        end: The offset behind it.
    """

    kind: Kind
    text: str
    start: int
    end: int


class Script:
    """The text of a script; offsets count its characters from 0."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def position(self, offset: int) -> ScriptPosition:
        """Return line and column of an offset."""
        line = bisect_right(self._lines, offset)
        return ScriptPosition(line, offset - self._lines[line - 1] + 1)

    def offset(self, position: ScriptPosition) -> int:
        """Return the offset of a line and column."""
        return self._lines[position.line - 1] + position.column - 1

    def error(self, message: str, offset: int) -> SqlSyntaxError:
        """Return the error to raise for what stands at an offset."""
        position = self.position(offset)
        return SqlSyntaxError(message, position, excerpt_of(self.text, position))

    def unfinished(self, message: str, offset: int) -> UnfinishedSqlError:
        """Return the error to raise where the script ends within something that begins at an offset."""
        position = self.position(offset)
        return UnfinishedSqlError(message, position, excerpt_of(self.text, position))

    def scan(self, offset: int) -> ScannedToken:
        """Return the first token from an offset on, behind blanks and comments.

        At the end of the script the token is ``end``, at the end of what is written: there something is missing.

        Raises:
            UnfinishedSqlError: A text, a name or a comment has no end.
        """
        written = offset
        while match := _TOKEN.match(self.text, offset):
            kind, offset = match.lastgroup, match.end()
            if kind == "comment":
                offset = self.end_of_comment(match.start())
            elif kind != "blank":
                if match[0] in ("'", '"', "`"):
                    raise self.unclosed(match.start())
                return ScannedToken(kind, match[0], match.start(), offset)  # type: ignore[arg-type] # a group's name
        return ScannedToken("end", "", written, len(self.text))

    def end_of_comment(self, start: int) -> int:
        """Return the offset behind a comment of the form ``/* ... */``.

        Raises:
            UnfinishedSqlError: It has no end.
        """
        end = self.text.find("*/", start + 2)
        if end < 0:
            raise self.unfinished("this comment has no end; expected '*/'", start)
        return end + 2

    def end_of_setting(self, start: int, is_key: bool) -> int:
        """Return the offset behind a key or a value of SET without quotes; a value ends with its line."""
        match = (_SETTING_KEY if is_key else _SETTING_VALUE).match(self.text, start)
        return match.end() if match else start

    def unclosed(self, start: int, hint: str = "") -> UnfinishedSqlError:
        """Return the error to raise for a quote that is not closed, with a hint behind it."""
        quote = self.text[start]
        what = "name" if quote == "`" else "text"
        return self.unfinished(f"this {what} has no end; expected another {quote} behind it{hint}", start)
