"""Times as people write them."""

from __future__ import annotations

import datetime as dt

_DIGITS_OF_DATE = len("20261123")


def parse_time(text: str) -> int:
    """Parse a time such as ``2026-11-23 06:00`` or ``2026-11-23T06:00:00+01:00``, without a zone in UTC.

    Milliseconds since 1970, which options take, are a time, too.

    Returns:
        Milliseconds since 1970.

    Raises:
        ValueError: It is none.
    """
    if text.strip().isdecimal() and len(text.strip()) > _DIGITS_OF_DATE:
        return int(text)
    try:
        time = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"expected a time such as 2026-11-23 06:00 or 2026-11-23T06:00:00Z, got {text!r}") from None
    return int((time if time.tzinfo else time.replace(tzinfo=dt.UTC)).timestamp() * 1000)
