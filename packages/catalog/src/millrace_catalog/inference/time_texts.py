"""Recognize texts that are dates and timestamps: those that format json reads as such, without its leniency.

A text that json would read as another day, such as February 30th, stays text; so does a time finer than nanoseconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from millrace_catalog.types import DATE, DataType, timestamp, timestamp_ltz, with_nullability

_DAY = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_HOUR = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_SECOND = r":[0-5][0-9](?:\.([0-9]{1,9}))?"
_ZONE = r"(Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)?"
_SQL = re.compile(rf"{_DAY}(?:( ){_HOUR}{_SECOND}{_ZONE})?")
_ISO = re.compile(rf"{_DAY}(?:(T){_HOUR}(?:{_SECOND})?{_ZONE})?")
_MICROSECONDS, _NANOSECONDS = 6, 9
_FIRST_AND_LAST_YEAR = ("0001", "9999")
_DATE = with_nullability(DATE, False)
_TIMESTAMPS = {
    (has_zone, is_finer): with_nullability(make(_NANOSECONDS if is_finer else _MICROSECONDS), False)
    for has_zone, make in ((False, timestamp), (True, timestamp_ltz))
    for is_finer in (False, True)
}
"""Types of timestamps, by whether they have a time zone and whether they are finer than microseconds."""


def time_text_reader(iso: bool) -> Callable[[str], DataType | None]:
    """Return a function that maps a date or timestamp to its NOT NULL type, and any other text to None.

    Args:
        iso: Whether date and time are separated by ``T``, else by a space.
    """
    fullmatch = (_ISO if iso else _SQL).fullmatch

    def read(text: str) -> DataType | None:
        if text[4:5] != "-" or text[7:8] != "-":
            return None
        match = fullmatch(text)
        if match is None or not _is_day(match[1], match[2], match[3]):
            return None
        separator, fraction, zone = match.groups()[3:]
        if separator is None:
            return _DATE
        if zone not in (None, "Z") and match[1] in _FIRST_AND_LAST_YEAR:
            return None  # the offset may lead to a year that does not exist
        return _TIMESTAMPS[zone is not None, len(fraction or "") > _MICROSECONDS]

    return read


def _is_day(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True
