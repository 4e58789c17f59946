"""How names of columns are written in options."""

from __future__ import annotations


def parse_fields(text: str) -> tuple[str, ...]:
    """The columns of a list such as ``user_id;item_id``.

    Raises:
        ValueError: A name is empty or repeated.
    """
    names = tuple(name.strip() for name in text.split(";"))
    if not all(names):
        raise ValueError("expected names of columns separated by ';'")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"expected each column once, but {', '.join(repeated)} is repeated")
    return names
