"""Names of columns and fields: as SQL writes them, and as the context of an error."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from millrace.errors import SchemaError

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def quote_name(name: str) -> str:
    """Write a name as SQL has it: between backticks unless it is made of ASCII letters, digits and ``_``."""
    return name if _PLAIN.fullmatch(name) else backquote(name)


def backquote(name: str) -> str:
    """Put a name between backticks, since it may be a word of the language."""
    return "`" + name.replace("`", "``") + "`"


def find_duplicates(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


@contextmanager
def column_context(name: str) -> Iterator[None]:
    """Name a column in each SchemaError that is raised within."""
    try:
        yield
    except SchemaError as error:
        raise SchemaError(f"column {quote_name(name)}: {error}") from None
