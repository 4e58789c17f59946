"""Numbers in the place of what is masked: the same for the same original, so that keys and joins stay what they are."""

from __future__ import annotations

from collections import Counter


class Pseudonyms:
    """The originals that were masked, numbered in the order in which they came.

    Attributes:
        masked: How often something of each kind was masked.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._originals: Counter[str] = Counter()
        self.masked: Counter[str] = Counter()

    def number(self, kind: str, original: str) -> int:
        """Return the number of an original, from 1, among those of its kind."""
        self.masked[kind] += 1
        number = self._numbers.get((kind, original))
        if number is None:
            self._originals[kind] += 1
            number = self._numbers[kind, original] = self._originals[kind]
        return number
