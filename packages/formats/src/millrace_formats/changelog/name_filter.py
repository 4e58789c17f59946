"""Select messages by database and table, in a topic with the changes of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from millrace.errors import MalformedMessageError
from millrace.options.java_pattern import java_pattern
from millrace_formats.changelog.exact_rows import to_text
from millrace_formats.json.decode_each import decode_each
from millrace_formats.shared.fallback_decoder import PayloadList, indices_except

_MAX_CACHED_NAMES = 10_000


class NameFilter:
    """Select the messages whose fields match patterns.

    Args:
        patterns: Regular expressions in Java's syntax, by the field whose whole text they match.
    """

    def __init__(self, patterns: Mapping[str, str]) -> None:
        self._fields = list(patterns)
        self._cache = _MatchCache(patterns)
        header = msgspec.defstruct("Header", [(field, str) for field in patterns], gc=False)
        self._decode: Callable[[Any], Any] = msgspec.json.Decoder(header).decode

    def matches(self, message: Mapping[str, Any]) -> bool:
        """Return whether a parsed message matches.

        Raises:
            MalformedMessageError: It lacks a field.
        """
        for field in self._fields:
            if field not in message:
                raise MalformedMessageError("the field is missing, by which messages are filtered", field)
        names = [message[field] for field in self._fields]
        return None not in names and self._cache[tuple(map(to_text, names))]

    def select(self, payloads: PayloadList) -> tuple[list[int], set[int]]:
        """Return the indices of messages that match, and of those that only the exact reader can check."""
        headers, unknown = decode_each(self._decode, payloads)
        cache, names = self._cache, msgspec.structs.astuple
        matching = [index for index, header in enumerate(headers) if cache[names(header)]]
        return indices_except(len(payloads), unknown)[matching].tolist() if unknown else matching, unknown


class _MatchCache(dict[tuple[str, ...], bool]):
    """Cache of the names that match."""

    def __init__(self, patterns: Mapping[str, str]) -> None:
        super().__init__()
        self._full_matches = [java_pattern(pattern).fullmatch for pattern in patterns.values()]

    def __missing__(self, names: tuple[str, ...]) -> bool:
        if len(self) >= _MAX_CACHED_NAMES:
            self.clear()
        self[names] = is_match = all(match(name) for match, name in zip(self._full_matches, names, strict=True))
        return is_match
