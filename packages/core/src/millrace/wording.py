"""Words for numbers in messages."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 row`` and ``2,000 rows``.

    Args:
        count: The count.
        noun: The noun in the singular; its plural ends with an s.
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
