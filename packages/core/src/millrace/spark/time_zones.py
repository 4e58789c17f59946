"""Time zones in which text without a zone is read."""

from __future__ import annotations

import re

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d\d))?(?::?\d\d)?")


def local_time_zone() -> str:
    """Return the name of the machine's time zone, which is a session's unless it sets another."""
    import tzlocal

    return tzlocal.get_localzone_name()


def to_arrow_time_zone(zone: str) -> str:
    """Return a zone as Arrow names it, which does not know Java's further names for offsets, such as ``GMT+1``."""
    match = _OFFSET.fullmatch(zone)
    if match is None:
        return "UTC" if zone == "Z" else zone
    return f"{match[1]}{int(match[2]):02d}:{match[3] or '00'}"
