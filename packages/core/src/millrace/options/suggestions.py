"""The name that a person may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The one of ``known`` that is most like ``name``, compared without case; None when none is like it.

    Args:
        name: What was written.
        known: What could have been meant.
        cutoff: How like it must be, from 0 to 1.
    """
    by_lower_case = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), by_lower_case, n=1, cutoff=cutoff)
    return by_lower_case[found[0]] if found else None
