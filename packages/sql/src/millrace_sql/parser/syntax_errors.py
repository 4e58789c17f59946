"""Word syntax errors: what is expected, what stands there instead, and what was probably meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from millrace.options.suggestions import closest
from millrace_sql.parser.grammar import describe, is_word, new_parser, words_of
from millrace_sql.parser.scanner import ScannedToken, Script
from millrace_sql.parser.unsupported import advice_on, advice_on_type

if TYPE_CHECKING:
    from lark import Token

    from millrace_sql.errors import SqlSyntaxError

_SHOWN = 40
"""Characters of a wrong word that an error repeats."""

_CURLY = "\u2018\u2019\u201c\u201d\u201a\u201e\u00b4"
"""Quotes of typography, which word processors and web pages make of those of SQL."""


def syntax_error(script: Script, tokens: Sequence[Token], unexpected: ScannedToken) -> SqlSyntaxError:
    """Return the error to raise for a token that the grammar does not take.

    Args:
        script: The script.
        tokens: The tokens of the statement before it.
        unexpected: The token.
    """
    advice = advice_on(tokens, unexpected)
    if advice is not None:
        return script.error(advice, unexpected.start)
    accepted = accepted_terminals(tokens)
    if "PLAIN" in accepted and (advice := advice_on_type(unexpected.text)):
        return script.error(advice, unexpected.start)
    message = f"expected {describe(accepted)}, found {_shown(unexpected)}"
    if unexpected.kind == "word" and (meant := closest(unexpected.text[:_SHOWN], words_of(accepted))):
        return script.error(f"{message}; did you mean {meant}?", unexpected.start)
    hint = _hint(script, tokens, unexpected, accepted)
    error = script.unfinished if unexpected.kind == "end" else script.error
    return error(f"{message}; {hint}" if hint else message, unexpected.start)


def accepted_terminals(tokens: Sequence[Token]) -> set[str]:
    """Return the terminals that the grammar takes behind some tokens."""
    parser = new_parser()
    for token in tokens:
        parser.feed_token(token)
    return parser.accepts()


def _shown(unexpected: ScannedToken) -> str:
    """Name a token; the content of a text is not repeated, since it may be a secret."""
    if unexpected.kind == "end":
        return "the end"
    if unexpected.kind == "text":
        return "a text in quotes"
    return repr(unexpected.text if len(unexpected.text) <= _SHOWN else unexpected.text[:_SHOWN] + "...")


def _hint(script: Script, tokens: Sequence[Token], unexpected: ScannedToken, accepted: set[str]) -> str:
    if unexpected.kind == "symbol" and unexpected.text in _CURLY:
        return "quotes of SQL are straight: '"
    if unexpected.text == "/*+":
        return "a hint stands behind the table's name in INSERT INTO and in a query"
    if script.text.startswith("...", unexpected.start):
        return "the dots of an example stand for what you have to write"
    if unexpected.text == "." and [token.type for token in tokens].count("DOT") == 2:
        return "a name has at most three parts, as in catalog.database.table"
    if unexpected.text == "-" and tokens and tokens[-1].type == "WORD":
        return "a name with '-' stands between backticks"
    if unexpected.kind in ("word", "number") and accepted == {"TEXT"} and tokens[-1].type in ("LPAR", "COMMA", "EQUAL"):
        return "keys and values of options stand in single quotes"
    if accepted == {"_NOT"} and any(token.type == "KEY" for token in tokens):
        return "a primary key is NOT ENFORCED, since Kafka does not check it"
    return _hint_on_last(script, tokens, unexpected) or _hint_on_number(unexpected, accepted)


def _hint_on_last(script: Script, tokens: Sequence[Token], unexpected: ScannedToken) -> str:
    """Return a hint where the token before is probably not what it was meant to be."""
    if not tokens:
        return ""
    last = tokens[-1]
    if last.type == "TEXT" and last.end_pos == unexpected.start:
        place = script.position(last.start_pos or 0)
        return f"perhaps the text at line {place.line}, column {place.column} lacks its closing quote"
    if last[:1].isalpha() and is_word(last.type) and last.type != "IF" and "WORD" in accepted_terminals(tokens[:-1]):
        return f"where {last} is a name, write `{last}`"
    return ""


def _hint_on_number(unexpected: ScannedToken, accepted: set[str]) -> str:
    return "a name of digits stands between backticks" if unexpected.kind == "number" and "WORD" in accepted else ""
