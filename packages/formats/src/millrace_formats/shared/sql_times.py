"""Parse dates, times and timestamps, one value at a time, exactly as the reference does (Flink's ``TimeFormats``)."""

from __future__ import annotations

import datetime as dt
import re
from functools import cache
from zoneinfo import ZoneInfo

_DAY = 86_400_000_000
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()

FIRST_DAY = dt.date.min.toordinal() - _EPOCH_DAY
LAST_DAY = dt.date.max.toordinal() - _EPOCH_DAY
FIRST_MICROSECOND = FIRST_DAY * _DAY
LAST_MICROSECOND = LAST_DAY * _DAY + _DAY - 1

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{0,9}))?")
_ISO_TIME = re.compile(r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{0,9}))?)?")
_ZONE = re.compile(r"Z|([+-])([0-9]{2})(?::?([0-9]{2}))?")
_DATE_LENGTH = len("yyyy-MM-dd")


def parse_date(text: str) -> int:
    """Parse ``yyyy-MM-dd``, years 0001 to 9999, to days since 1970-01-01; ValueError for any other text."""
    match = _DATE.fullmatch(text)
    if not match:
        raise ValueError("expected yyyy-MM-dd")
    return _days(int(match[1]), int(match[2]), int(match[3]))


def parse_time(text: str) -> int:
    """Parse ``HH:mm:ss[.fraction]`` to nanoseconds of the day; ValueError for any other text."""
    match = _TIME.fullmatch(text)
    if not match:
        raise ValueError("expected HH:mm:ss[.fraction]")
    hour, minute, second = int(match[1]), int(match[2]), int(match[3])
    if hour == 24 and minute == second == 0 and not (match[4] or "").strip("0"):
        hour = 0
    return _nanoseconds(hour, minute, second, match[4])


def parse_local_timestamp(text: str, iso: bool) -> int:
    """Parse a timestamp without a time zone to microseconds since 1970-01-01 00:00:00; ValueError for other text.

    Args:
        text: ``yyyy-MM-dd HH:mm:ss[.fraction]``, or with ``iso`` ``yyyy-MM-ddTHH:mm[:ss[.fraction]]``. Digits beyond
            microseconds are cut off. Without ``iso``, as in the reference, day 29 to 31 of a shorter month is its last
            day, and 24:00:00 is the next day's 00:00:00.
        iso: Whether ``T`` stands between date and time.
    """
    expected = "yyyy-MM-ddTHH:mm:ss[.fraction]" if iso else "yyyy-MM-dd HH:mm:ss[.fraction]"
    date = _DATE.match(text)
    time = (_ISO_TIME if iso else _TIME).fullmatch(text, _DATE_LENGTH + 1)
    if not date or not time or text[_DATE_LENGTH] not in ("Tt" if iso else " "):
        raise ValueError(f"expected {expected}")
    year, month, day = int(date[1]), int(date[2]), int(date[3])
    hour, minute, second = int(time[1]), int(time[2]), int(time[3] or 0)
    extra = 0
    if not iso:
        day = _clamp(year, month, day)
        if hour == 24 and minute == second == 0 and not (time[4] or "").strip("0"):
            hour, extra = 0, 1
    microseconds = (_days(year, month, day) + extra) * _DAY + _nanoseconds(hour, minute, second, time[4]) // 1000
    return check_range(microseconds)


def parse_instant(text: str, iso: bool, zone: str) -> int:
    """Parse a timestamp that may end in ``Z`` or an offset to microseconds since the epoch; ValueError for other text.

    Args:
        text: As for `parse_local_timestamp`, and then nothing, ``Z``, ``+hh:mm``, ``+hhmm`` or ``+hh``.
        iso: As for `parse_local_timestamp`.
        zone: The time zone of text that names none. Of a time that occurs twice the earlier is taken; a time that is
            skipped is moved on by the length of the gap.
    """
    match = _ZONE.fullmatch(text, _zone_start(text))
    if not match:
        return to_utc(parse_local_timestamp(text, iso), zone)
    local = parse_local_timestamp(text[: match.start()], iso)
    hours, minutes = int(match[2] or 0), int(match[3] or 0)
    if hours > 23 or minutes > 59:
        raise ValueError("the offset is beyond a day")
    offset = (hours * 60 + minutes) * 60_000_000
    return check_range(local + offset if match[1] == "-" else local - offset)


def to_utc(local: int, zone: str) -> int:
    """Convert microseconds of a local time in a zone to microseconds since the epoch."""
    info = zone_info(zone)
    if info is dt.UTC:
        return local
    naive = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=local)
    offset = naive.replace(tzinfo=info).utcoffset()
    return check_range(local - (offset or dt.timedelta()) // dt.timedelta(microseconds=1))


@cache
def zone_info(zone: str) -> dt.tzinfo:
    """Return the time zone of an Arrow type: a name such as ``Europe/Berlin``, or an offset such as ``+02:00``."""
    if zone in {"UTC", "Etc/UTC", "Z", "GMT", "+00:00"}:
        return dt.UTC
    if match := _ZONE.fullmatch(zone):
        offset = dt.timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        return dt.timezone(-offset if match[1] == "-" else offset)
    return ZoneInfo(zone)


def check_range(microseconds: int) -> int:
    """Return a timestamp; ValueError when it is outside the years 0001 to 9999."""
    if not FIRST_MICROSECOND <= microseconds <= LAST_MICROSECOND:
        raise ValueError("outside the years 0001 to 9999")
    return microseconds


def _zone_start(text: str) -> int:
    if text.endswith("Z"):
        return len(text) - 1
    return max(text.rfind("+"), text.rfind("-", _DATE_LENGTH), 0)


def _days(year: int, month: int, day: int) -> int:
    return dt.date(year, month, day).toordinal() - _EPOCH_DAY


def _clamp(year: int, month: int, day: int) -> int:
    if day not in (29, 30, 31) or not 1 <= month <= 12 or year == 0:
        return day
    first_of_next = dt.date(year + month // 12, month % 12 + 1, 1) if (year, month) != (9999, 12) else None
    return day if first_of_next is None else min(day, (first_of_next - dt.timedelta(days=1)).day)


def _nanoseconds(hour: int, minute: int, second: int, fraction: str | None) -> int:
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError("no such time of day")
    return ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + int((fraction or "").ljust(9, "0"))
