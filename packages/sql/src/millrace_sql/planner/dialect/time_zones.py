"""The offsets of time zones, which tell whether windows of local times are those of UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_UTC = {"UTC", "GMT", "UT", "Z", "ZULU", "UCT", "UNIVERSAL", "GREENWICH"}
_FIXED = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?", re.IGNORECASE)
_YEARS = range(1970, 2038)


def is_utc(zone: str) -> bool:
    """Return whether a time zone, as Spark spells it, is UTC."""
    return zone.upper().removeprefix("ETC/") in _UTC or _offsets_s(zone) == {0}


def has_windows_of_utc(zone: str, slide_ms: int) -> bool:
    """Return whether windows that begin at local multiples of a duration begin at multiples in UTC too.

    Args:
        zone: The time zone.
        slide_ms: The time from the start of one window to that of the next, in milliseconds.
    """
    offsets = _offsets_s(zone)
    return bool(offsets) and all(offset * 1000 % slide_ms == 0 for offset in offsets)


@lru_cache
def _offsets_s(zone: str) -> frozenset[int]:
    """Return the offsets from UTC that a zone has, in seconds; empty where they are not known."""
    if match := _FIXED.fullmatch(zone):
        hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
        return frozenset({(hours * 3600 + minutes * 60 + seconds) * (-1 if match[1] == "-" else 1)})
    try:
        info = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return frozenset()
    times = (datetime(year, month, 15, tzinfo=UTC) for year in _YEARS for month in range(1, 13))
    offsets = (at.astimezone(info).utcoffset() for at in times)
    return frozenset(int(offset.total_seconds()) for offset in offsets if offset is not None)
