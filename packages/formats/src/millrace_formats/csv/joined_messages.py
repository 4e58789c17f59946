"""Messages as one text, joined by line breaks, and which of them a place in it belongs to."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np

from millrace_formats.shared.fallback_decoder import drop_indices

_BREAK, _RETURN = ord("\n"), ord("\r")
MARK = "\ufeff".encode()
"""A byte order mark, which the reference takes from a message's beginning."""


class Joined:
    """Some messages of a batch.

    Args:
        messages: The messages.
        places: Their indexes in the batch, ascending.
        text: The same joined, where it is known.
    """

    def __init__(self, messages: Sequence[bytes], places: np.ndarray, text: bytes | None = None) -> None:
        self._messages = messages
        self.places = places
        self.text = b"\n".join(messages) if text is None else text

    def __len__(self) -> int:
        return len(self._messages)

    def drop_indices(self, positions: Sequence[int]) -> Joined:
        """The others, given the positions of some, ascending."""
        stretches, first = [], 0
        for position in (*positions, len(self)):
            if position > first:
                start = int(self._ends[first - 1]) + 1 if first else 0
                stretches.append(self.text[start : int(self._ends[position - 1])])
            first = position + 1
        kept = drop_indices(self._messages, positions)
        return Joined(kept, np.delete(self.places, positions), b"\n".join(stretches))

    def longer_than(self, size: int) -> list[int]:
        """The positions of messages with more bytes than that, ascending."""
        return [position for position, message in enumerate(self._messages) if len(message) > size]

    def odd(self) -> list[int]:
        """The positions of those that are not one line of text each, ascending: broken, not UTF-8, or marked."""
        broken = self._broken()
        return broken if self.text.isascii() else sorted({*broken, *self._not_utf8(), *self._marked()})

    def _broken(self) -> list[int]:
        if _RETURN not in self.text and self.text.count(b"\n") == len(self) - 1:
            return []
        characters = np.frombuffer(self.text, np.uint8)
        breaks = np.flatnonzero((characters == _BREAK) | (characters == _RETURN))
        owners = np.searchsorted(self._ends, breaks)
        found: list[int] = np.unique(owners[breaks != self._ends[owners]]).tolist()
        return found

    def _not_utf8(self) -> Iterator[int]:
        start = 0
        while True:
            try:
                self.text[start:].decode()
            except UnicodeDecodeError as error:
                owner = self._owner(start + error.start)
                yield owner
                start = int(self._ends[owner]) + 1
            else:
                return

    def _marked(self) -> Iterator[int]:
        at = self.text.find(MARK)
        while at >= 0:
            owner = self._owner(at)
            if self._messages[owner].startswith(MARK):
                yield owner
            at = self.text.find(MARK, at + 1)

    def _owner(self, place: int) -> int:
        """The position of the message that a place in the text belongs to."""
        return int(np.searchsorted(self._ends, place))

    @functools.cached_property
    def _ends(self) -> np.ndarray:
        """For each message where the line break is behind it."""
        ends: np.ndarray = np.cumsum(np.fromiter(map(len, self._messages), np.int64, len(self)) + 1) - 1
        return ends
