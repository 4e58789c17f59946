"""Messages joined by line breaks to one text, in which Arrow's reader and NumPy look at all of them at once."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np

from millrace_formats.shared.fallback_decoder import drop_indices

_BREAK, _RETURN = ord("\n"), ord("\r")
BYTE_ORDER_MARK = "\ufeff".encode()
"""The byte order mark, which the reference removes from the beginning of a message."""


class JoinedMessages:
    """Some messages of a batch.

    Args:
        messages: The messages.
        message_index: Their indices in the batch, ascending.
        text: The joined text, where it is known.
    """

    def __init__(self, messages: Sequence[bytes], message_index: np.ndarray, text: bytes | None = None) -> None:
        self._messages = messages
        self.message_index = message_index
        self.text = b"\n".join(messages) if text is None else text

    def __len__(self) -> int:
        return len(self._messages)

    def drop(self, indices: Sequence[int]) -> JoinedMessages:
        """Return the messages except some, whose indices ascend."""
        slices, first = [], 0
        for index in (*indices, len(self)):
            if index > first:
                start = int(self._ends[first - 1]) + 1 if first else 0
                slices.append(self.text[start : int(self._ends[index - 1])])
            first = index + 1
        messages = drop_indices(self._messages, indices)
        return JoinedMessages(messages, np.delete(self.message_index, indices), b"\n".join(slices))

    def longer_than(self, size: int) -> list[int]:
        """Return the indices of messages with more bytes than that, ascending."""
        return [index for index, message in enumerate(self._messages) if len(message) > size]

    def not_single_lines(self) -> list[int]:
        """Return the indices of messages with line breaks, not in UTF-8, or with a byte order mark, ascending."""
        broken = self._with_line_breaks()
        return broken if self.text.isascii() else sorted({*broken, *self._not_utf8(), *self._with_byte_order_mark()})

    def _with_line_breaks(self) -> list[int]:
        if _RETURN not in self.text and self.text.count(b"\n") == len(self) - 1:
            return []
        characters = np.frombuffer(self.text, np.uint8)
        breaks = np.flatnonzero((characters == _BREAK) | (characters == _RETURN))
        owners = np.searchsorted(self._ends, breaks)
        indices: list[int] = np.unique(owners[breaks != self._ends[owners]]).tolist()
        return indices

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

    def _with_byte_order_mark(self) -> Iterator[int]:
        at = self.text.find(BYTE_ORDER_MARK)
        while at >= 0:
            owner = self._owner(at)
            if self._messages[owner].startswith(BYTE_ORDER_MARK):
                yield owner
            at = self.text.find(BYTE_ORDER_MARK, at + 1)

    def _owner(self, position: int) -> int:
        """Return the index of the message at a position of the text."""
        return int(np.searchsorted(self._ends, position))

    @functools.cached_property
    def _ends(self) -> np.ndarray:
        """The position of the line break after each message."""
        ends: np.ndarray = np.cumsum(np.fromiter(map(len, self._messages), np.int64, len(self)) + 1) - 1
        return ends
