"""Names of columns and fields as SQL writes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def quoted(name: str) -> str:
    """A name as it stands in SQL: between backticks unless it is made of ASCII letters, digits and ``_``."""
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def repeated(names: Iterable[str]) -> list[str]:
    """The names that stand there more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)
