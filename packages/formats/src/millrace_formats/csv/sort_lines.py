"""Which messages of a batch can be split as CSV by which means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from millrace_formats.csv.options import CsvOptions
from millrace_formats.two_paths import Items, is_utf8, not_utf8

_MARK = "\ufeff".encode()
_BREAK = ord("\n")


class Lines(NamedTuple):
    """The indexes of a batch's messages, ascending; those in neither list need the exact reader.

    Attributes:
        plain: One line each, whose quotes, if any, enclose whole values and hold no others.
        quoted: Other text with quotes.
    """

    plain: Sequence[int]
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

    def sort(self, items: Items) -> Lines:
        """Sort a batch."""
        if not self._single_bytes:
            return Lines((), self._readable(items))
        joined = _joined_lines(items)
        if joined is not None:
            return self._by_quotes(joined, range(len(items)))
        readable = self._readable(items)
        lines = [index for index in readable if not _has_break(items[index])]
        quoted = [index for index in readable if _has_break(items[index]) and self._has_quote(items[index])]
        found = self._by_quotes(b"\n".join([items[index] or b"" for index in lines]), lines)
        return Lines(found.plain, sorted([*found.quoted, *quoted]))

    def _readable(self, items: Items) -> list[int]:
        wrong = not_utf8([item or b"" for item in items])
        return [i for i, item in enumerate(items) if item and i not in wrong and not item.startswith(_MARK)]

    def _has_quote(self, item: bytes | None) -> bool:
        return item is not None and self._quote is not None and self._quote in item

    def _by_quotes(self, joined: bytes, places: Sequence[int]) -> Lines:
        """Tell apart the lines, joined by line breaks, by where their quotes are."""
        if self._quote is None or self._quote not in joined:
            return Lines(places, ())
        odd = self._oddly_quoted(np.frombuffer(joined, np.uint8))
        if not odd.size:
            return Lines(places, ())
        quoted = [places[line] for line in odd.tolist()]
        others = set(quoted)
        return Lines([place for place in places if place not in others], quoted)

    def _oddly_quoted(self, text: np.ndarray) -> np.ndarray:
        """The numbers of the lines whose quotes do more than to enclose whole values."""
        quotes = np.flatnonzero(text == ord(self._quote or b""))
        line = np.searchsorted(np.flatnonzero(text == _BREAK), quotes)
        first = np.searchsorted(line, line)  # of each quote's line, the first quote
        last = np.searchsorted(line, line, side="right") - 1
        opens = (np.arange(len(quotes)) - first) % 2 == 0
        even = (last - first) % 2 == 1
        neighbour = np.where(opens, quotes - 1, quotes + 1)
        at_end = (neighbour < 0) | (neighbour >= len(text))
        beside = text.take(neighbour, mode="clip")
        fine = even & (at_end | (beside == _BREAK) | (beside == ord(self._delimiter)))
        return np.unique(line[~fine])


def _joined_lines(items: Items) -> bytes | None:
    """The messages, joined by line breaks, when each is a line of text; else None."""
    try:
        joined = b"\n".join(items)  # type: ignore[arg-type]
    except TypeError:  # a null payload
        return None
    if b"\r" in joined or joined.count(b"\n") != len(items) - 1:
        return None
    empty = not items[0] or not items[-1] or b"\n\n" in joined
    text = joined.isascii() or (_MARK not in joined and is_utf8(joined))
    return joined if text and not empty else None


def _has_break(item: bytes | None) -> bool:
    return item is not None and (b"\n" in item or b"\r" in item)
