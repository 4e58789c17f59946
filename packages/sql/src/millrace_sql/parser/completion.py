"""Tell what may follow at a place in a script; a shell offers it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from millrace_sql.errors import SqlSyntaxError, UnfinishedSqlError
from millrace_sql.parser.expected_names import ExpectedNames, expected_names, names_in_expression
from millrace_sql.parser.feeder import StatementFeeder
from millrace_sql.parser.grammar import words_of
from millrace_sql.parser.query_completion import QUERY_KEYWORDS, names_in_query
from millrace_sql.parser.scanner import ScannedToken, Script
from millrace_sql.script_texts import NOWHERE

if TYPE_CHECKING:
    from lark import Token

_QUOTES = ("'", '"', "`")
_PASSAGES = ("QUERY", "EXPRESSION", "SETTING_KEY", "SETTING_VALUE")
_WORD_AT_END = re.compile(r"(?<![\w$])[\w$]++\Z")


@dataclass(frozen=True)
class Completion:
    """Keywords and names that may follow at a place in a script.

    Attributes:
        start: The offset at which the word to complete begins, behind a quote that is open.
        prefix: The word so far; empty where a new one begins.
        quote: The quote that is open; empty outside of quotes.
        keywords: Words of the language that may stand here and begin with the prefix, in upper case; in queries those
            of Spark.
        names: The names that are expected.
    """

    start: int
    prefix: str = ""
    quote: str = ""
    keywords: tuple[str, ...] = ()
    names: ExpectedNames = field(default_factory=ExpectedNames)


def complete(text: str, cursor: int) -> Completion:
    """Return what may follow at a place in a script.

    Args:
        text: The script; it may be unfinished, and wrong behind the place.
        cursor: The offset of the place.
    """
    script = Script(text[:cursor])
    feeder = StatementFeeder(script, 0)
    place = _find_place(feeder)
    while isinstance(place, StatementFeeder):
        feeder = place
        place = _find_place(feeder)
    if place is None:
        return Completion(cursor)
    prefix = script.text[place.start :]
    words, names = _words_and_names(feeder, place, text[cursor:])
    keywords = tuple(word for word in words if not place.quote and word.startswith(prefix.upper()))
    return Completion(place.start, prefix, place.quote, keywords, names)


@dataclass(frozen=True)
class _Place:
    """The place of the cursor in a statement.

    Attributes:
        start: The offset of the word to complete.
        quote: The quote that is open before it.
        query: The offset of the query or expression that it is part of; None outside of one.
    """

    start: int
    quote: str = ""
    query: int | None = None


def _find_place(feeder: StatementFeeder) -> _Place | StatementFeeder | None:
    """Feed a statement up to the cursor, at which the script ends.

    Returns:
        The place of the cursor; the feeder of the next statement where this one ends before it; None where nothing can
        be completed, since the cursor is in a comment or text, or behind something wrong.
    """
    script = feeder.script
    try:
        while True:
            scanned = script.scan(feeder.offset)
            if _is_at_cursor(script, scanned):
                start = len(script.text) if scanned.kind == "end" else scanned.start
                return None if _ends_in_comment(script, scanned.start) else _Place(start)
            if scanned.text == ";" and not feeder.tokens:
                return StatementFeeder(script, scanned.end)
            token = feeder.next_token(scanned)
            if token.type in _PASSAGES and script.scan(token.end_pos or 0).kind == "end":
                return _place_in_passage(script, token)
            feeder.feed(token)
            if token.type == "$END":
                return StatementFeeder(script, scanned.end)
    except UnfinishedSqlError as error:
        return _place_in_open(feeder, error)
    except SqlSyntaxError:
        return None


def _is_at_cursor(script: Script, scanned: ScannedToken) -> bool:
    return scanned.kind == "end" or (scanned.kind == "word" and scanned.end == len(script.text))


def _ends_in_comment(script: Script, offset: int) -> bool:
    """Return whether the script ends in a comment; from the offset on it has blanks and comments only."""
    return "--" in script.text[offset:].rpartition("\n")[2]


def _words_and_names(feeder: StatementFeeder, place: _Place, after: str) -> tuple[Sequence[str], ExpectedNames]:
    """Return the words of the language and the names that may stand at a place."""
    accepted = feeder.parser.accepts()
    if "EXPRESSION" in accepted:
        return QUERY_KEYWORDS, names_in_expression(feeder.tokens)
    if place.query is None:
        return words_of(accepted), expected_names(feeder.tokens, accepted)
    names = names_in_query(feeder.script.text[place.query : place.start].rstrip("`"), after)
    return () if names.qualifier else QUERY_KEYWORDS, names


def _place_in_passage(script: Script, token: Token) -> _Place | None:
    if _ends_in_comment(script, token.end_pos or 0):
        return None
    if token.type.startswith("SETTING"):
        return _Place(token.start_pos or 0)
    return _Place(_start_of_word(script.text), query=token.start_pos)


def _place_in_open(feeder: StatementFeeder, error: SqlSyntaxError) -> _Place | None:
    """Return the place behind a quote or bracket that is open."""
    script = feeder.script
    start = script.offset(error.position or NOWHERE)
    quote = script.text[start]
    try:
        scanned = script.scan(feeder.offset)
    except UnfinishedSqlError:  # the quote or comment is the next token
        return _Place(start + 1, quote) if quote in _QUOTES else None
    if quote == "`":
        return _Place(start + 1, quote, scanned.start)
    return _Place(_start_of_word(script.text), query=scanned.start) if quote in "([" else None


def _start_of_word(text: str) -> int:
    match = _WORD_AT_END.search(text)
    return match.start() if match else len(text)
