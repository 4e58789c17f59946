"""Suggest the name that a person may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the name of ``known`` that is closest to ``name``, ignoring case; None when none is close.

    Args:
        name: The name that was written.
        known: The names to choose from.
        cutoff: The least similarity, from 0 to 1 (`difflib.get_close_matches`).
    """
    by_lower_case = {candidate.lower(): candidate for candidate in known}
    matches = get_close_matches(name.lower(), by_lower_case, n=1, cutoff=cutoff)
    return by_lower_case[matches[0]] if matches else None
