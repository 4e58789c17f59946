"""Texts of dates and times that Debezium writes as numbers, and that no type of a column holds.

PostgreSQL has infinite dates, years before 1 and after 9999; MySQL's TIME is a duration of up to 838 hours. The numbers
of infinity are those of PostgreSQL's driver, see "Temporal types" in
https://debezium.io/documentation/reference/stable/connectors/postgresql.html: a date overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

_EPOCH = date(1970, 1, 1).toordinal()
_SECONDS_OF_DAY = 86_400
_DAYS_OF_400_YEARS = 146_097
_MIN_DAYS, _MAX_DAYS = -(1 << 31), (1 << 31) - 1
# Days since 2000-01-01 in PostgreSQL, whose largest number and smallest number mean infinity
_FROM_2000 = date(2000, 1, 1).toordinal() - _EPOCH
_INFINITE_DATES = {_MAX_DAYS + _FROM_2000 - (1 << 32): "infinity", _MIN_DAYS + _FROM_2000: "-infinity"}
_INFINITE_SECONDS = {9_223_372_036_825: (200, "infinity"), -9_223_372_036_833: (600, "-infinity")}
"""By seconds, the thousandths of them, and the meaning of both."""


def date_text(days: int) -> str:
    """Return the text of a date, such as ``-0043-03-15`` of 44 BC, as ISO-8601 counts years.

    Args:
        days: The days since 1970-01-01.
    """
    if days in _INFINITE_DATES:
        return _INFINITE_DATES[days]
    cycles, rest = divmod(days + _EPOCH - 1, _DAYS_OF_400_YEARS)
    day = date.fromordinal(rest + 1)
    year = day.year + 400 * cycles
    sign = "-" if year < 0 else "+" if year > date.max.year else ""
    return f"{sign}{abs(year):04}-{day.month:02}-{day.day:02}"


def time_text(per_second: int, precision: int) -> Callable[[int], str]:
    """Return a function to the text of a time, such as ``-12:34:56`` or ``838:59:59.5``.

    Args:
        per_second: The number of a time's units in a second.
        precision: The digits of a fraction of a second.
    """

    def text(value: int) -> str:
        seconds, fraction = divmod(abs(value), per_second)
        sign = "-" if value < 0 else ""
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return f"{sign}{clock}.{fraction:0{precision}}".rstrip("0") if fraction else f"{sign}{clock}"

    return text


def timestamp_text(per_second: int, precision: int) -> Callable[[int], str]:
    """Return a function to the text of a timestamp, of which `date_text` is a part.

    Args:
        per_second: The number of a timestamp's units in a second.
        precision: The digits of a fraction of a second.
    """
    time_of = time_text(per_second, precision)

    def text(value: int) -> str:
        seconds, fraction = divmod(value, per_second)
        thousandths, infinity = _INFINITE_SECONDS.get(seconds, (None, ""))
        if thousandths is not None and fraction * 1000 == thousandths * per_second:
            return infinity
        days, rest = divmod(seconds, _SECONDS_OF_DAY)
        return f"{date_text(days)} {time_of(rest * per_second + fraction)}"

    return text
