"""Quote or escape texts for a line of CSV, where the reference does (Jackson's ``CsvEncoder``)."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.csv.options import CsvOptions

_MAX_CHECKED = 24  # the reference quotes longer values without looking for special characters
_TIMESTAMP_CHARACTERS = frozenset("0123456789-: .Z")


class Quoting:
    """Enclose values in quotes where needed, and double quotes in them.

    Args:
        options: The options of csv.
        quote: The quote character.
    """

    def __init__(self, options: CsvOptions, quote: str) -> None:
        self._quote, self._escape = quote, options.escape_character
        self._last = max(options.delimiter, quote, "\r")
        special = {"\\", options.delimiter, quote, self._escape or "\\"}
        self._beyond = [character for character in special if character > self._last]
        is_ascii = "".join([self._last, *self._beyond]).isascii()
        self._unsafe = self._unsafe_bytes if is_ascii else self._unsafe_characters
        # The space in a timestamp is special, unless delimiter and quote come before it
        self.timestamp_quote = (
            quote if self._last >= " " and not _TIMESTAMP_CHARACTERS & {quote, self._escape or quote} else None
        )
        """The text before and after each timestamp; None where it depends on the timestamp."""

    def apply(self, texts: pa.StringArray) -> pa.StringArray:
        """Quote the texts that need it."""
        needed = self._needed(texts)
        if not needed.any():
            return texts
        inner = texts
        if self._escape is not None:
            inner = pc.replace_substring(inner, self._escape, self._escape * 2)
        inner = pc.replace_substring(inner, self._quote, self._quote * 2)
        quoted = pc.binary_join_element_wise(self._quote, inner, self._quote, "")
        return quoted if needed.all() else pc.if_else(pa.array(needed), quoted, texts)

    def _needed(self, texts: pa.StringArray) -> np.ndarray:
        needed: np.ndarray = self._unsafe(texts) | _are_long(texts)
        return needed & texts.is_valid().to_numpy(zero_copy_only=False) if texts.null_count else needed

    def _unsafe_bytes(self, texts: pa.StringArray) -> np.ndarray:
        offsets, data = _offsets_and_data(texts)
        mask = np.zeros(len(texts), bool)
        beyond = [ord(character) for character in self._beyond]
        if not data.size or (data.min() > ord(self._last) and not any((data == code).any() for code in beyond)):
            return mask
        special = data <= ord(self._last)
        for code in beyond:
            special |= data == code
        nonempty = np.flatnonzero(np.diff(offsets))
        mask[nonempty] = np.logical_or.reduceat(special, offsets[nonempty] - offsets[0])
        return mask

    def _unsafe_characters(self, texts: pa.StringArray) -> np.ndarray:
        beyond = "".join(f"\\x{{{ord(character):x}}}" for character in self._beyond)
        unsafe = pc.match_substring_regex(texts, f"[\\x{{0}}-\\x{{{ord(self._last):x}}}{beyond}]")
        mask: np.ndarray = unsafe.fill_null(False).to_numpy(zero_copy_only=False)
        return mask


class Escaping:
    """Escape special characters, where the dialect has no quotes.

    Args:
        options: The options of csv.
    """

    timestamp_quote = None

    def __init__(self, options: CsvOptions) -> None:
        self._escape, self._delimiter = options.escape_character, options.delimiter

    def apply(self, texts: pa.StringArray) -> pa.StringArray:
        """Escape special characters; ValueError when there is no escape character."""
        if self._escape is None:
            return self._checked(texts)
        for character, written in ((self._escape,) * 2, (self._delimiter,) * 2, ("\n", "n"), ("\r", "r")):
            texts = pc.replace_substring(texts, character, self._escape + written)
        return texts

    def _checked(self, texts: pa.StringArray) -> pa.StringArray:
        unsafe = pc.match_substring_regex(texts, f"[\r\n{re.escape(self._delimiter)}]")
        row = pc.index(unsafe, True).as_py()
        if row >= 0:
            raise ValueError(
                f"row {row}: the value holds the delimiter or a line break, and there is no quote or escape character"
            )
        return texts


def _offsets_and_data(texts: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the offsets of texts and their bytes."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return np.zeros(len(texts) + 1, np.int32), np.empty(0, np.uint8)
    ends = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
    return ends, np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]


def _are_long(texts: pa.StringArray) -> np.ndarray:
    offsets, _ = _offsets_and_data(texts)
    lengths: np.ndarray = np.diff(offsets) > _MAX_CHECKED
    if not lengths.any():
        return lengths
    characters: np.ndarray = pc.utf8_length(texts).fill_null(0).to_numpy(zero_copy_only=False)
    return characters > _MAX_CHECKED
