"""Durations as the reference writes them."""

from __future__ import annotations

import re

_UNITS_MS = {
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
}
_DURATION = re.compile(r"\s*(-?\d+)\s*([a-zA-Z]*)\s*")


def parse_duration_ms(text: str) -> int:
    """Milliseconds of a duration such as ``5 min``, ``30s``, ``500 ms`` or ``-1``.

    A bare number is taken as milliseconds, as the reference does.

    Raises:
        ValueError: The text is not a duration.
    """
    match = _DURATION.fullmatch(text)
    unit = match[2].lower() if match else ""
    if match is None or (unit and unit not in _UNITS_MS):
        raise ValueError("expected a duration such as '5 min', '30 s' or '500 ms'")
    return int(match[1]) * (_UNITS_MS[unit] if unit else 1)
