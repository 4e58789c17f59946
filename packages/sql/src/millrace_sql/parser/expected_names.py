"""Tell which names a statement may go on with, from its tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from millrace_sql.script_texts import Identifier, Options

if TYPE_CHECKING:
    from lark import Token

NameKind = Literal[
    "catalog",
    "column",
    "database",
    "function",
    "metadata key",
    "option",
    "option value",
    "setting",
    "setting value",
    "table",
    "view",
]

_NAME_TYPES = ("WORD", "QUOTED")
_KINDS: Mapping[str, tuple[NameKind, ...]] = {
    "CATALOG": ("catalog",),
    "DATABASE": ("database",),
    "DESC": ("table", "view"),
    "DESCRIBE": ("table", "view"),
    "EXTENDED": ("table", "view"),
    "FOR": ("column",),
    "FROM": ("database",),
    "IN": ("database",),
    "INTO": ("table",),
    "LIKE": ("table",),
    "OVERWRITE": ("table",),
    "TABLE": ("table",),
    "USE": ("catalog", "database"),
    "VIEW": ("view",),
}
"""Kinds of a name by the word before it."""


@dataclass(frozen=True)
class ExpectedNames:
    """Names that are expected at a place in a script.

    Attributes:
        kinds: What they may be names of; empty where none are expected, also where a new name is.
        qualifier: The parts of the name that are there already, such as ``("shop",)`` behind ``shop.``.
        tables: Where columns are expected: the tables that have them.
        columns: Where columns are expected: those that the statement itself declares.
        options: Where an option or its value is expected: the other options of the list.
        key: Where a value is expected: its option or setting.
    """

    kinds: tuple[NameKind, ...] = ()
    qualifier: tuple[str, ...] = ()
    tables: tuple[Identifier, ...] = ()
    columns: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=Options)
    key: str | None = None


def expected_names(tokens: Sequence[Token], accepted: AbstractSet[str]) -> ExpectedNames:
    """Return the names that may follow a statement's tokens.

    Args:
        tokens: The tokens so far.
        accepted: The terminals that the grammar takes behind them.
    """
    if "SETTING_KEY" in accepted:
        return ExpectedNames(("setting",))
    if "SETTING_VALUE" in accepted:
        return ExpectedNames(("setting value",), key=_unquoted(tokens[-2]))
    if "TEXT" in accepted:
        return _texts(tokens)
    if accepted.isdisjoint(_NAME_TYPES):
        return ExpectedNames()
    return _names(tokens)


def names_in_expression(tokens: Sequence[Token]) -> ExpectedNames:
    """Return the names that the expression behind a statement's tokens may have."""
    tables = _identifiers_behind(tokens, "TABLE")[1:]
    return ExpectedNames(("column", "function"), tables=tables, columns=_declared_columns(tokens))


def _texts(tokens: Sequence[Token]) -> ExpectedNames:
    if tokens[-1].type == "FROM":
        return ExpectedNames(("metadata key",))
    begin = _open_parenthesis(tokens)
    if begin is None or tokens[-1].type not in ("LPAR", "COMMA", "EQUAL"):
        return ExpectedNames()
    listed = tokens[begin + 1 :]
    options = Options(
        {
            _unquoted(listed[index - 1]): _unquoted(listed[index + 1])
            for index, token in enumerate(listed[:-1])
            if token.type == "EQUAL"
        }
    )
    if tokens[-1].type == "EQUAL":
        return ExpectedNames(("option value",), options=options, key=_unquoted(tokens[-2]))
    return ExpectedNames(("option",), options=options)


def _names(tokens: Sequence[Token]) -> ExpectedNames:
    end = len(tokens)
    while end and tokens[end - 1].type == "DOT":
        end -= 2
    qualifier = tuple(_unquoted(token) for token in tokens[end:] if token.type in _NAME_TYPES)
    before = tokens[:end]
    while before and before[-1].type in ("IF", "_NOT", "EXISTS"):
        before = before[:-1]
    if not before:
        return ExpectedNames()
    if before[-1].type in ("LPAR", "COMMA"):
        return _columns(before)
    if before[-1].type == "AFTER":
        return ExpectedNames(("column",), tables=_identifiers_behind(before, "TABLE")[-1:])
    kinds = _KINDS.get(before[-1].type, ())
    if _is_new(before):
        kinds = ()
    if "COLUMNS" in (token.type for token in before):
        kinds = ("table", "view")
    columns = _declared_columns(before) if kinds == ("column",) else ()
    return ExpectedNames(kinds, qualifier, columns=columns)


def _is_new(tokens: Sequence[Token]) -> bool:
    """Return whether the name that follows is that of what is created."""
    types = [token.type for token in tokens]
    return types[0] == "CREATE" and types[-1] in ("TABLE", "VIEW", "CATALOG", "DATABASE") and "AS" not in types


def _columns(tokens: Sequence[Token]) -> ExpectedNames:
    """Return the columns that a list in parentheses may name."""
    begin = _open_parenthesis(tokens)
    owner = tokens[begin - 1].type if begin else ""
    if owner in ("KEY", "BY"):
        return ExpectedNames(("column",), columns=_declared_columns(tokens))
    inserts = [index for index, token in enumerate(tokens) if token.type == "INSERT"]
    if begin is None or not inserts or owner not in ("PARTITION", "RPAR", "__ANON_1", *_NAME_TYPES):
        return ExpectedNames()
    return ExpectedNames(
        ("column",), tables=_identifiers_behind(tokens[inserts[-1] :], "INTO", "OVERWRITE", "TABLE")[:1]
    )


def _identifiers_behind(tokens: Sequence[Token], *words: str) -> tuple[Identifier, ...]:
    """Return the names that stand behind words."""
    identifiers = []
    for index, token in enumerate(tokens):
        parts = []
        behind = index + 1
        while token.type in words and behind < len(tokens) and tokens[behind].type in (*_NAME_TYPES, "DOT"):
            parts += [_unquoted(tokens[behind])] if tokens[behind].type != "DOT" else []
            behind += 1
        identifiers += [Identifier(tuple(parts))] if parts else []
    return tuple(identifiers)


def _declared_columns(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the columns that CREATE TABLE declares in its parentheses."""
    columns, depth = [], 0
    for before, token in pairwise(tokens):
        depth += {"LPAR": 1, "LESSTHAN": 1, "RPAR": -1, "MORETHAN": -1}.get(before.type, 0)
        if depth == 1 and before.type in ("LPAR", "COMMA") and token.type in _NAME_TYPES:
            columns.append(_unquoted(token))
        if not depth and columns:
            break
    return tuple(columns)


def _open_parenthesis(tokens: Sequence[Token]) -> int | None:
    """Return the index of the last parenthesis that is not closed."""
    closed = 0
    for index in range(len(tokens) - 1, -1, -1):
        closed += {"RPAR": 1, "LPAR": -1}.get(tokens[index].type, 0)
        if closed < 0:
            return index
    return None


def _unquoted(token: Token) -> str:
    quote = token[:1]
    return token[1:-1].replace(2 * quote, quote) if quote in ("'", '"', "`") else str(token)
