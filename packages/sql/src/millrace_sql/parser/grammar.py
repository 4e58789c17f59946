"""The grammar, and what its terminals are called in a script."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from copy import copy
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from millrace_catalog.types.parse import TYPE_NAMES
from millrace_sql.parser.builder import statement_builder

if TYPE_CHECKING:
    from lark import Lark
    from lark.parsers.lalr_interactive_parser import InteractiveParser

_KINDS = {
    "PLAIN": "a type",
    "WORD": "a name",
    "TEXT": "a text in single quotes",
    "SIZE": "a whole number",
    "QUERY": "a query",
    "EXPRESSION": "an expression",
    "SETTING_KEY": "a key",
    "SETTING_VALUE": "a value",
}
"""Terminals that stand for many words, in a person's words."""

_NOT_WORDS = {*_KINDS, "QUOTED", "$END"}
_TYPE_WORDS = frozenset(
    {"PLAIN", "DOUBLE", "DECIMAL", "LENGTH_LIMITED", "TIME", "TIMESTAMP", "TIMESTAMP_PLAIN", "ARRAY", "MAP", "ROW"}
)
"""Terminals with which a type begins."""

_STATEMENT_WORDS = {"CREATE", "INSERT", "QUERY"}
_QUERY_WORDS = ("SELECT", "VALUES", "WITH", "FROM", "TABLE")
"""Words with which a query begins, in the order of their use."""


def new_parser() -> InteractiveParser:
    """Return a parser that waits for the first token of a statement."""
    return _lark().parse_interactive("")


def takes(parser: InteractiveParser, terminal: str) -> bool:
    """Return whether a parser takes a terminal next; the parser stays as it is."""
    from lark import Token, UnexpectedToken

    trial = parser.copy(deepcopy_values=False)
    trial.parser_state.parse_conf = copy(trial.parser_state.parse_conf)
    trial.parser_state.parse_conf.callbacks = {}  # nothing is built
    try:
        trial.feed_token(Token(terminal, ""))
    except UnexpectedToken:
        return False
    return True


@cache
def _lark() -> Lark:
    from lark import Lark
    from lark.load_grammar import FromPackageLoader

    return Lark(
        files(__package__).joinpath("sql.lark").read_text("utf-8"),
        start="statement",
        parser="lalr",
        lexer="basic",
        transformer=statement_builder(),
        import_paths=[FromPackageLoader("millrace_catalog", ("types",))],
    )


@lru_cache(4096)
def terminals_of(word: str) -> tuple[str, ...]:
    """Return the terminals that a word of the language or a symbol can be.

    Args:
        word: The word, in upper case.
    """
    return tuple(name for name, pattern in _patterns().items() if pattern.fullmatch(word))


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    terminals = {terminal.name: terminal.pattern for terminal in _lark().terminals}
    named = ("WORD", "QUOTED", "TEXT", "SIZE")
    return {name: re.compile(pattern.to_regexp()) for name, pattern in terminals.items() if name not in named}


def is_word(terminal: str) -> bool:
    """Return whether a terminal is one word of the language."""
    return terminal not in _NOT_WORDS


def begins_query(word: str) -> bool:
    """Return whether a query may begin with a word."""
    return word.upper() in _QUERY_WORDS


def words_of(terminals: AbstractSet[str]) -> list[str]:
    """Return the words of the language that terminals stand for, sorted; also the names of types."""
    words = [_text_of(name) for name in terminals - _TYPE_WORDS - _NOT_WORDS]
    types = TYPE_NAMES if "PLAIN" in terminals else ()
    queries = _QUERY_WORDS if "QUERY" in terminals else ()
    return sorted({*(word for word in words if word[0].isalpha()), *types, *queries})


def describe(terminals: AbstractSet[str]) -> str:
    """Return what a script may go on with, in a person's words."""
    if terminals >= _STATEMENT_WORDS:
        return "a statement"
    kinds = [text for name, text in _KINDS.items() if name in terminals]
    null = {"_NULL"} if "PLAIN" in terminals else set()
    texts = [_text_of(name) for name in terminals - _TYPE_WORDS - _NOT_WORDS - null]
    symbols = sorted((repr(text) for text in texts if not text[0].isalpha()), reverse=True)
    words = sorted(text for text in texts if text[0].isalpha())
    end = ["';'", "the end"] if "$END" in terminals else []
    alternatives = [*kinds, *symbols, *words, *end]
    if len(alternatives) < 2:
        return "".join(alternatives)
    return f"{', '.join(alternatives[:-1])} or {alternatives[-1]}"


def _text_of(terminal: str) -> str:
    """Return the word or symbol that a terminal stands for."""
    from lark.lexer import PatternStr

    pattern = _lark().get_terminal(terminal).pattern
    return pattern.value if isinstance(pattern, PatternStr) else terminal.strip("_")
