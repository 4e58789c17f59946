"""Values of decoded messages as JSON."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from typing import Any

MAX_TEXT = 2_000
"""The number of characters of a value that are shown."""

_EXACT_IN_BROWSERS = 2**53
_VARIABLE = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\d+(?:\.\d+)?")


def plain(value: Any) -> Any:
    """Return a value as JSON has it: bytes as text with escapes, times as ISO 8601, numbers with all their digits."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < _EXACT_IN_BROWSERS else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return _cut(value[:MAX_TEXT].decode("utf-8", "backslashreplace"), len(value) > MAX_TEXT)
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    text = str(value)
    return _cut(text[:MAX_TEXT], len(text) > MAX_TEXT)


def _cut(text: str, is_longer: bool) -> str:
    return f"{text}…" if is_longer else text


def hidden_reason(text: str) -> str:
    """Return a sentence without its numbers and quoted texts, which may be a message's."""
    return _VARIABLE.sub("…", text)
