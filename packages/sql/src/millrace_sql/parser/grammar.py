"""The grammar, and what its terminals are called in a script."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from copy import copy
from functools import cache
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

_UNLIKELY = (".", "/*+")
"""Symbols that are nearly never what is missing."""

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


def terminals_of(word: str) -> tuple[str, ...]:
    """Return the terminals that a word of the language or a symbol can be.

    Args:
        word: The word, in upper case.
    """
    words, patterns = _words_and_patterns()
    return words.get(word, ()) or tuple(name for name, pattern in patterns.items() if pattern.fullmatch(word))


@cache
def _words_and_patterns() -> tuple[dict[str, tuple[str, ...]], dict[str, re.Pattern[str]]]:
    """Return the terminals of single words by those words, and the patterns of those that are several words."""
    from lark.lexer import PatternStr

    words: dict[str, tuple[str, ...]] = {}
    patterns = {}
    for terminal in _lark().terminals:
        if isinstance(terminal.pattern, PatternStr):
            words[terminal.pattern.value] = (terminal.name,)
        elif terminal.name not in _NOT_WORDS - {"PLAIN"}:
            patterns[terminal.name] = re.compile(terminal.pattern.to_regexp())
    return words, patterns


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
    if len(terminals) > 1:
        texts = [text for text in texts if text not in _UNLIKELY]
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
