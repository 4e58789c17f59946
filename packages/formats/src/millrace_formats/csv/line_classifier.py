"""Which messages of a batch can be split as CSV by which means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from millrace_formats.csv.joined_messages import MARK, Joined
from millrace_formats.csv.options import CsvOptions
from millrace_formats.shared.fallback_decoder import PayloadList, drop_indices, indices_except, is_utf8

_BREAK = ord("\n")
# A message of nothing but quotes or line breaks would take many times its size
_LARGE, _LARGE_BATCH = 1 << 20, 1 << 23


class Lines(NamedTuple):
    """The messages of a batch; those that are in neither part need the exact reader.

    Attributes:
        plain: One line each, whose quotes, if any, enclose whole values and hold no others.
        quoted: The indexes of other text with quotes, ascending.
    """

    plain: Joined
    quoted: Sequence[int]


class LineSorter:
    """Sorts messages of one dialect, which has no escape character and no comments.

    Args:
        options: The options of csv.
    """

    def __init__(self, options: CsvOptions) -> None:
        self._quote = None if options.quote is None else options.quote.encode()
        self._delimiter = options.delimiter.encode()
        # Arrow's reader takes single bytes only
        self._single_bytes = len(self._delimiter) == 1 and len(self._quote or b"-") == 1

    def sort(self, items: PayloadList) -> Lines:
        """Sort a batch."""
        lines = _not_blank(items)
        if len(lines.text) > _LARGE_BATCH:
            lines = lines.drop_indices(lines.longer_than(_LARGE))
        odd = lines.odd()
        quoted = self._quoted(items, lines.places[odd].tolist())
        lines = lines.drop_indices(odd) if odd else lines
        if not self._single_bytes:
            return Lines(lines.drop_indices(range(len(lines))), sorted([*quoted, *lines.places.tolist()]))
        oddly_quoted = self._oddly_quoted(lines.text)
        if not oddly_quoted:
            return Lines(lines, quoted)
        return Lines(lines.drop_indices(oddly_quoted), sorted([*quoted, *lines.places[oddly_quoted].tolist()]))

    def _quoted(self, items: PayloadList, places: list[int]) -> list[int]:
        """Which of some odd messages are text with quotes, within which line breaks may be."""
        found = ((place, items[place] or b"") for place in places)
        return [place for place, item in found if self._quote and self._quote in item and _is_text(item)]

    def _oddly_quoted(self, joined: bytes) -> list[int]:
        """The numbers of the lines whose quotes do more than to enclose whole values, ascending."""
        if self._quote is None or self._quote not in joined:
            return []
        text = np.frombuffer(joined, np.uint8)
        quotes = np.flatnonzero(text == ord(self._quote))
        line = np.searchsorted(np.flatnonzero(text == _BREAK), quotes)
        first = np.searchsorted(line, line)  # of each quote's line, the first quote
        last = np.searchsorted(line, line, side="right") - 1
        opens = (np.arange(len(quotes)) - first) % 2 == 0
        even = (last - first) % 2 == 1
        neighbour = np.where(opens, quotes - 1, quotes + 1)
        at_end = (neighbour < 0) | (neighbour >= len(text))
        beside = text.take(neighbour, mode="clip")
        fine = even & (at_end | (beside == _BREAK) | (beside == ord(self._delimiter)))
        found: list[int] = np.unique(line[~fine]).tolist()
        return found


def _not_blank(items: PayloadList) -> Joined:
    if all(items):
        return Joined(items, np.arange(len(items), dtype=np.int32))  # type: ignore[arg-type]
    blank = [index for index, item in enumerate(items) if not item]
    return Joined(drop_indices(items, blank), indices_except(len(items), blank))


def _is_text(item: bytes) -> bool:
    return is_utf8(item) and not item.startswith(MARK)
