"""The header ``traceparent``, which says what trace a message belongs to.

It is specified by W3C's "Trace Context"; instrumented Kafka clients write it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from confluent_kafka import Message

TRACEPARENT = "traceparent"
EXPECTED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
"""An example of its value: version, trace, span and flags."""

_FIELDS = "(?P<version>(?!ff)[0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-(?P<flags>[0-9a-f]{2})"
_PATTERN = re.compile(rf"{_FIELDS}(?P<rest>-.*)?")
_SAMPLED = 1


def is_traceparent(text: str) -> bool:
    """Return whether a text is a value of the header; later versions than 00 may have more fields."""
    return _parse(text) is not None


def traceparent_of(message: Message) -> str | None:
    """Return the value of the header; None for a message without one, or whose last one is not valid."""
    for name, value in reversed(message.headers() or ()):
        if name == TRACEPARENT:
            text = "" if value is None else value.decode("ascii", "replace")
            return text if is_traceparent(text) else None
    return None


def sampled_traceparents(messages: Iterable[Message]) -> Iterator[str]:
    """Yield the values of those messages whose trace is recorded, as their flag says."""
    for text in filter(None, map(traceparent_of, messages)):
        match = _parse(text)
        if match and int(match["flags"], 16) & _SAMPLED:
            yield text


def _parse(text: str) -> re.Match[str] | None:
    match = _PATTERN.fullmatch(text)
    return None if match is None or (match["version"] == "00" and match["rest"]) else match
