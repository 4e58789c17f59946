"""Ids of tables as text: names joined by dots, as Flink writes them.

A name that contains a dot or a backtick stands between backticks, so that different tables have different ids:
``c.`a.b` `` is table ``a.b`` of schema ``c``, and ```a.b`.c`` is table ``c`` of schema ``a.b``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = re.compile(r"`(?P<quoted>(?:[^`]|``)+)`|(?P<plain>[^`.]+)")


def join_names(names: Iterable[str]) -> str:
    """Return the id of a table as text."""
    return ".".join(f"`{name.replace('`', '``')}`" if "." in name or "`" in name else name for name in names)


def split_names(text: str) -> tuple[str, ...]:
    """Return the names of which `join_names` makes an id.

    Raises:
        ValueError: It is no id: a name is empty, or a backtick is in the wrong place.
    """
    if "`" not in text:
        names = tuple(text.split("."))
        if not all(names):
            raise ValueError("a name is empty")
        return names
    return tuple(_split_quoted(text))


def _split_quoted(text: str) -> Iterable[str]:
    position = 0
    while True:
        match = _NAME.match(text, position)
        if match is None or (match.end() < len(text) and text[match.end()] != "."):
            raise ValueError("a backtick is not around a name")
        yield match["plain"] or match["quoted"].replace("``", "`")
        if match.end() == len(text):
            return
        position = match.end() + 1
