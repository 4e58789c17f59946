"""Tell which names a query may go on with, from its words; Spark parses it, so that a guess must do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from millrace_sql.parser.expected_names import ExpectedNames
from millrace_sql.script_texts import Identifier

# fmt: off
QUERY_KEYWORDS = (
    "ALL", "AND", "ANTI", "ANY", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "CROSS", "CUBE", "DESC", "DISTINCT",
    "ELSE", "END", "EXCEPT", "EXISTS", "FALSE", "FILTER", "FROM", "FULL", "GROUP", "HAVING", "IN", "INNER", "INTERSECT",
    "INTERVAL", "IS", "JOIN", "LATERAL", "LEFT", "LIKE", "LIMIT", "NOT", "NULL", "OFFSET", "ON", "OR", "ORDER", "OUTER",
    "OVER", "PARTITION", "RIGHT", "ROLLUP", "SELECT", "SEMI", "SETS", "TABLE", "THEN", "TRUE", "UNION", "USING",
    "VALUES", "WHEN", "WHERE", "WINDOW", "WITH",
)
# fmt: on
"""Words of Spark's queries, sorted."""

_CLAUSES = frozenset({"SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "ON", "USING", "LIMIT", "JOIN", "WINDOW"})
_JOINS = frozenset({"INNER", "LEFT", "RIGHT", "FULL", "CROSS", "ANTI", "SEMI", "OUTER", "NATURAL", "LATERAL"})
_PIECE = re.compile(
    r"""--[^\n]*+|/\*.*?(?:\*/|\Z)|'(?:[^'\\]++|\\.)*+(?:'|\Z)|"(?:[^"\\]++|\\.)*+(?:"|\Z)"""
    r"""|(?P<piece>[\w$]++|`[^`]*+`|[().,;])""",
    re.DOTALL,
)


def names_in_query(before: str, after: str) -> ExpectedNames:
    """Return the names that may stand at a place in a query.

    Args:
        before: The query up to the place.
        after: What stands behind the place; tables that it names have columns too.
    """
    pieces = list(_pieces(before))
    following = list(_pieces(after))
    if ";" in following:
        following = following[: following.index(";")]
    qualifier, pieces = _split_qualifier(pieces)
    tables = _tables([*pieces, "?", *following])
    if _expects_table(pieces):
        return ExpectedNames(("table", "view"), qualifier)
    if _names_alias(pieces):
        return ExpectedNames()
    if not qualifier:
        return ExpectedNames(("column", "function"), tables=tuple(table for table, _ in tables))
    named = tuple(table for table, alias in tables if qualifier in ((alias,), table.parts))
    return ExpectedNames(("column",), qualifier, named)


def _pieces(text: str) -> Iterator[str]:
    return (match["piece"] for match in _PIECE.finditer(text) if match["piece"])


def _split_qualifier(pieces: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    end = len(pieces)
    while end >= 2 and pieces[end - 1] == ".":
        end -= 2
    return tuple(map(_unquoted, pieces[end::2])), list(pieces[:end])


def _clause(pieces: Sequence[str]) -> str:
    """Return the word with which the innermost clause at the end begins."""
    depth = 0
    for piece in reversed(pieces):
        depth += {")": 1, "(": -1}.get(piece, 0)
        if depth < 0:
            return ""
        if not depth and piece.upper() in _CLAUSES:
            return piece.upper()
    return ""


def _expects_table(pieces: Sequence[str]) -> bool:
    last = pieces[-1].upper() if pieces else ""
    return last in ("FROM", "JOIN", "TABLE") or (last == "," and _clause(pieces) in ("FROM", "JOIN"))


def _names_alias(pieces: Sequence[str]) -> bool:
    """Return whether a table is named already, so that its alias or a word of the language follows."""
    last = pieces[-1].upper() if pieces else ""
    return last == "AS" or (last not in ("(", "") and _clause(pieces) in ("FROM", "JOIN"))


def _tables(pieces: Sequence[str]) -> list[tuple[Identifier, str]]:
    """Return the tables of a query with their aliases; those without one have the last part of their names."""
    tables, index = [], 0
    while index < len(pieces):
        if not _expects_table(pieces[max(0, index - 64) : index]) or not _is_name(pieces[index]):
            index += 1
            continue
        parts = [_unquoted(pieces[index])]
        while pieces[index + 1 : index + 2] == ["."] and index + 2 < len(pieces) and _is_name(pieces[index + 2]):
            index += 2
            parts.append(_unquoted(pieces[index]))
        index += 1 + (pieces[index + 1 : index + 2] in (["AS"], ["as"]))
        following = pieces[index] if index < len(pieces) else ""
        is_alias = _is_name(following) and following.upper() not in (*QUERY_KEYWORDS, *_CLAUSES, *_JOINS, "FOR")
        tables.append((Identifier(tuple(parts)), _unquoted(following) if is_alias else parts[-1]))
    return tables


def _is_name(piece: str) -> bool:
    return piece[:1] == "`" or piece[:1].isalpha() or piece[:1] == "_"


def _unquoted(piece: str) -> str:
    return piece.strip("`")
