"""Which messages are read of a topic that holds the changes of several databases and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from millrace.errors import MalformedMessageError
from millrace.options.java_pattern import java_pattern
from millrace_formats.changelog.exact_rows import to_text
from millrace_formats.json.decode_each import decode_each
from millrace_formats.shared.fallback_decoder import PayloadList, indices_except

_MOST_NAMES = 10_000


class NameFilter:
    """Keeps the messages whose fields match patterns.

    Args:
        patterns: Regular expressions, as in Java, by the names of the fields all of whose text they have to match.
    """

    def __init__(self, patterns: Mapping[str, str]) -> None:
        self._fields = list(patterns)
        self._known = _KeptNames(patterns)
        header = msgspec.defstruct("Header", [(field, str) for field in patterns], gc=False)
        self._decode: Callable[[Any], Any] = msgspec.json.Decoder(header).decode

    def keeps(self, message: Mapping[str, Any]) -> bool:
        """Whether a message is read that the exact reader has parsed.

        Raises:
            MalformedMessageError: It lacks a field.
        """
        for field in self._fields:
            if field not in message:
                raise MalformedMessageError("the field is missing, by which messages are chosen", field)
        names = [message[field] for field in self._fields]
        return None not in names and self._known[tuple(map(to_text, names))]

    def choose(self, items: PayloadList) -> tuple[list[int], set[int]]:
        """The indexes of the messages that are read, and of those that only the exact reader can tell about."""
        headers, left = decode_each(self._decode, items)
        known, names = self._known, msgspec.structs.astuple
        kept = [position for position, header in enumerate(headers) if known[names(header)]]
        return indices_except(len(items), left)[kept].tolist() if left else kept, left


class _KeptNames(dict[tuple[str, ...], bool]):
    """Whether messages with these names are kept; finds it out when it is first asked."""

    def __init__(self, patterns: Mapping[str, str]) -> None:
        super().__init__()
        self._matches = [java_pattern(pattern).fullmatch for pattern in patterns.values()]

    def __missing__(self, names: tuple[str, ...]) -> bool:
        if len(self) >= _MOST_NAMES:
            self.clear()
        self[names] = kept = all(matches(name) for matches, name in zip(self._matches, names, strict=True))
        return kept
