"""Times of the command line: those of options, and the milliseconds that Kafka's tools show."""

from __future__ import annotations

import re
from time import time

from millrace.options.values import parse_duration_ms, parse_time_ms

_DIGITS_OF_DATE = len("20261123")
_DURATION = re.compile(r"\s*\d+\s*[a-zA-Z]+\s*")


def parse_time(text: str) -> int:
    """Parse a time as `parse_time_ms` does, such as ``2026-11-23 06:00``, or milliseconds since 1970.

    Returns:
        Milliseconds since 1970.

    Raises:
        ValueError: It is none.
    """
    is_number = text.strip().isdecimal() and len(text.strip()) > _DIGITS_OF_DATE
    return int(text) if is_number else parse_time_ms(text)


def parse_past_time(text: str) -> int:
    """Parse a time as `parse_time` does, or a duration before now, such as ``1h`` or ``30 min``.

    Returns:
        Milliseconds since 1970.

    Raises:
        ValueError: It is neither.
    """
    return int(time() * 1000) - parse_duration_ms(text) if _DURATION.fullmatch(text) else parse_time(text)
