"""Columns of dates, times and timestamps as text, as the reference writes them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.sql_times import FIRST_DAY, FIRST_MICROSECOND, LAST_DAY, LAST_MICROSECOND

UTC_MARK = "Z"

_DATE = len("yyyy-MM-dd")


def date_texts(column: pa.Date32Array) -> pa.StringArray:
    """Dates as ``yyyy-MM-dd``; ValueError naming the row when a year is outside 0001 to 9999."""
    _check_range(column.view(pa.int32()), FIRST_DAY, LAST_DAY)
    return column.cast(pa.string())


def time_texts(column: pa.Time64Array) -> pa.StringArray:
    """Times as ``HH:mm:ss[.fraction]``."""
    return _without_zeros(column.cast(pa.string()))


def timestamp_texts(column: pa.TimestampArray, iso: bool) -> pa.StringArray:
    """Timestamps as ``yyyy-MM-dd HH:mm:ss[.fraction]``, with as many digits as needed.

    Args:
        column: Microseconds; with a time zone they are written in UTC and end in ``Z``.
        iso: Whether ``T`` stands between date and time instead of a space.

    Raises:
        ValueError: A year is outside 0001 to 9999; the message names the row.
    """
    texts = bare_timestamp_texts(column, iso)
    return texts if column.type.tz is None else pc.binary_join_element_wise(texts, UTC_MARK, "")


def bare_timestamp_texts(column: pa.TimestampArray, iso: bool) -> pa.StringArray:
    """The same without the ``Z`` of those with a time zone."""
    numbers = column.view(pa.int64())
    _check_range(numbers, FIRST_MICROSECOND, LAST_MICROSECOND)
    times = numbers.view(pa.timestamp("us"))
    try:
        texts = times.cast(pa.timestamp("s")).cast(pa.string())
    except pa.ArrowInvalid:  # some have fractions
        texts = _without_zeros(times.cast(pa.string()))
    return pc.utf8_replace_slice(texts, _DATE, _DATE + 1, "T") if iso else texts


def _without_zeros(texts: pa.StringArray) -> pa.StringArray:
    return pc.ascii_rtrim(pc.ascii_rtrim(texts, "0"), ".")


def _check_range(numbers: pa.Array, low: int, high: int) -> None:
    bounds = pc.min_max(numbers)
    if bounds["min"].as_py() is None or (bounds["min"].as_py() >= low and bounds["max"].as_py() <= high):
        return
    row = pc.index(pc.or_(pc.less(numbers, low), pc.greater(numbers, high)), True).as_py()
    raise ValueError(f"row {row}: outside the years 0001 to 9999")
