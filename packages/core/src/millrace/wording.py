"""Words for numbers in messages."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 row`` and ``2,000 rows``.

    Args:
        count: The count.
        noun: The noun in the singular; its plural ends with an s, or with es behind ch.
    """
    plural = "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{'' if count == 1 else plural}"


def not_an_object(value: object, shown: str) -> str:
    """Return the problem of a message whose JSON is no object.

    Args:
        value: The parsed value.
        shown: Its text.
    """
    if isinstance(value, list):
        number = counted(len(value), "value")
        shown = f"an array of {number}, each of which needs a message of its own"
    return f"expected a JSON object, found {shown}"
