"""How lists of names are written in options."""

from __future__ import annotations


def parse_names(text: str, expected: str, each: str, separator: str = ";") -> tuple[str, ...]:
    """The names of a list such as ``orders;audit``.

    Args:
        text: The list.
        expected: What it is a list of, for errors, such as "topic names".
        each: The same of one of them, such as "topic".
        separator: What stands between two of them.

    Raises:
        ValueError: A name is empty or repeated.
    """
    names = tuple(name.strip() for name in text.split(separator))
    if not all(names):
        raise ValueError(f"expected {expected} separated by '{separator}'")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"expected each {each} once, but {', '.join(repeated)} is repeated")
    return names
