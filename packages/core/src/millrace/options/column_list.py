"""Parse the option ``columns``: a list of columns as in Spark's DDL, of which only the names are looked at."""

from __future__ import annotations

import re
from typing import NamedTuple

OTHERS = "*"
"""An entry that stands for the columns that the format or its messages have beside the declared ones."""

# A quoted name or text is one piece, so that what it holds divides nothing
_PIECE = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[<>(),]|[^`'\"<>(),]+|.", re.DOTALL)
_COLUMN = re.compile(r"(`(?:[^`]|``)+`|\w+)(?:\s*:|\s)\s*\w", re.DOTALL)


class DeclaredColumn(NamedTuple):
    """An entry of the list.

    Attributes:
        name: The name of the column, without quotes; `OTHERS` for the columns that are not declared.
        ddl: Its name, type, and whatever follows, as they were given.
    """

    name: str
    ddl: str


def parse_column_list(text: str) -> tuple[DeclaredColumn, ...]:
    """Parse a list such as ``id BIGINT NOT NULL, name STRING`` or ``key_id BIGINT, *``; Spark reads the types.

    Raises:
        ValueError: An entry has no name or no type, or a name is repeated.
    """
    columns = tuple(_parse_entry(entry.strip()) for entry in _entries(text))
    names = [column.name for column in columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"expected each column once, but {', '.join(repeated)} is repeated")
    return columns


def _entries(text: str) -> list[str]:
    entries, depth = [""], 0
    for piece in _PIECE.findall(text):
        depth += (piece in "<(") - (piece in ">)")
        if piece == "," and depth == 0:
            entries.append("")
        else:
            entries[-1] += piece
    return entries


def _parse_entry(entry: str) -> DeclaredColumn:
    if entry == OTHERS:
        return DeclaredColumn(OTHERS, OTHERS)
    match = _COLUMN.match(entry)
    if match is None:
        raise ValueError("expected columns with their types, such as 'id BIGINT, name STRING', or 'id BIGINT, *'")
    name = match[1]
    return DeclaredColumn(name[1:-1].replace("``", "`") if name.startswith("`") else name, entry)
