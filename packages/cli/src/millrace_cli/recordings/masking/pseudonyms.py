"""Numbers in the place of what is masked: the same for the same original, so that keys and joins stay what they are."""

from __future__ import annotations

import re
from collections import Counter

FIELD = "field"
"""The kind of what is masked as a whole, in fields, headers and keys alike."""

_FIRST_NUMBER = 2_000_000_001
"""The mask of the first number: seldom one of the data's own, which 1 often is, and the type INT has it and those after
it."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Pseudonyms:
    """The originals that were masked, numbered in the order in which they came.

    Attributes:
        masked: How often something of each kind was masked.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str | bytes], int] = {}
        self._originals: Counter[str] = Counter()
        self.masked: Counter[str] = Counter()

    def number(self, kind: str, original: str | bytes, counted_as: str | None = None) -> int:
        """Return the number of an original, from 1, among those of its kind.

        Args:
            kind: The kind.
            original: The original: text as it is without the escapes of JSON.
            counted_as: The kind for which it is counted in `masked`, if that is another one.
        """
        self.masked[counted_as or kind] += 1
        number = self._numbers.get((kind, original))
        if number is None:
            self._originals[kind] += 1
            number = self._numbers[kind, original] = self._originals[kind]
        return number

    def whole(self, original: str | bytes, counted_as: str | None = None) -> str:
        """Return the mask of a whole value, which is a number if that is one, be it a number of JSON or text.

        Args:
            original: As for `number`.
            counted_as: As for `number`.
        """
        number = self.number(FIELD, original, counted_as)
        if isinstance(original, str) and _NUMBER.fullmatch(original):
            return str(_FIRST_NUMBER - 1 + number)
        return f"masked-{number}"

    def has_whole(self, original: str) -> bool:
        """Return whether a whole value was masked before."""
        return (FIELD, original) in self._numbers
