"""Classify the messages of a batch by the splitter that can split them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from millrace_formats.csv.joined_messages import BYTE_ORDER_MARK, JoinedMessages
from millrace_formats.csv.options import CsvOptions
from millrace_formats.shared.fallback_decoder import PayloadList, drop_indices, indices_except, is_utf8

_BREAK = ord("\n")
# The masks of a message of nothing but quotes or line breaks take many times its size
_MAX_MESSAGE_BYTES, _LARGE_BATCH_BYTES = 1 << 20, 1 << 23


class ClassifiedLines(NamedTuple):
    """The messages of a batch; the exact reader reads those that are in neither part.

    Attributes:
        plain: Messages of one line, whose quotes, if any, enclose whole values and contain no others.
        quoted: The indices of other text with quotes, ascending.
    """

    plain: JoinedMessages
    quoted: Sequence[int]


class LineClassifier:
    """Classify messages of one dialect, without an escape character or comments.

    Args:
        options: The options of csv.
    """

    def __init__(self, options: CsvOptions) -> None:
        self._quote = None if options.quote is None else options.quote.encode()
        self._delimiter = options.delimiter.encode()
        # Arrow's reader takes single bytes only
        self._single_bytes = len(self._delimiter) == 1 and len(self._quote or b"-") == 1

    def classify(self, payloads: PayloadList) -> ClassifiedLines:
        """Classify the messages of a batch."""
        lines = _not_empty(payloads)
        if len(lines.text) > _LARGE_BATCH_BYTES:
            lines = lines.drop(lines.longer_than(_MAX_MESSAGE_BYTES))
        others = lines.not_single_lines()
        quoted = self._quoted(payloads, lines.message_index[others].tolist())
        lines = lines.drop(others) if others else lines
        if not self._single_bytes:
            return ClassifiedLines(lines.drop(range(len(lines))), sorted([*quoted, *lines.message_index.tolist()]))
        inner_quotes = self._with_inner_quotes(lines.text)
        if not inner_quotes:
            return ClassifiedLines(lines, quoted)
        return ClassifiedLines(lines.drop(inner_quotes), sorted([*quoted, *lines.message_index[inner_quotes].tolist()]))

    def _quoted(self, payloads: PayloadList, indices: list[int]) -> list[int]:
        """Return the indices of text with quotes, which may enclose line breaks."""
        candidates = ((index, payloads[index] or b"") for index in indices)
        return [index for index, payload in candidates if self._quote and self._quote in payload and _is_text(payload)]

    def _with_inner_quotes(self, joined: bytes) -> list[int]:
        """Return the indices of lines whose quotes do more than enclose whole values, ascending."""
        if self._quote is None or self._quote not in joined:
            return []
        text = np.frombuffer(joined, np.uint8)
        quotes = np.flatnonzero(text == ord(self._quote))
        line = np.searchsorted(np.flatnonzero(text == _BREAK), quotes)
        first = np.searchsorted(line, line)  # the first quote of each quote's line
        last = np.searchsorted(line, line, side="right") - 1
        opens = (np.arange(len(quotes)) - first) % 2 == 0
        even = (last - first) % 2 == 1
        neighbour = np.where(opens, quotes - 1, quotes + 1)
        at_end = (neighbour < 0) | (neighbour >= len(text))
        adjacent = text.take(neighbour, mode="clip")
        encloses_value = even & (at_end | (adjacent == _BREAK) | (adjacent == ord(self._delimiter)))
        lines: list[int] = np.unique(line[~encloses_value]).tolist()
        return lines


def _not_empty(payloads: PayloadList) -> JoinedMessages:
    if all(payloads):
        return JoinedMessages(payloads, np.arange(len(payloads), dtype=np.int32))  # type: ignore[arg-type] # no nulls
    empty = [index for index, payload in enumerate(payloads) if not payload]
    return JoinedMessages(drop_indices(payloads, empty), indices_except(len(payloads), empty))


def _is_text(payload: bytes) -> bool:
    return is_utf8(payload) and not payload.startswith(BYTE_ORDER_MARK)
