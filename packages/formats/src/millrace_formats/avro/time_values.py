"""Dates, times and timestamps of Avro, which are whole numbers, as columns have them."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace.errors import MalformedMessageError
from millrace_formats.avro.conversion import Conversion, Reject, reject_outside
from millrace_formats.shared.sql_times import FIRST_DAY, FIRST_MICROSECOND, LAST_DAY, LAST_MICROSECOND
from millrace_formats.shared.sql_types import sql_name

_NANOSECONDS = {"millis": 1_000_000, "micros": 1000, "nanos": 1}
_DAY = 86_400_000_000_000


def time_conversion(meaning: str, type_: pa.DataType) -> Conversion | None:
    """From a number of a logical type to a date, time or timestamp; None where that is something else.

    Args:
        meaning: The logical type's name, such as ``timestamp-millis``.
        type_: The column's type; a timestamp may be of either kind, whichever kind the logical type is.
    """
    what, _, unit = meaning.rpartition("-")
    if meaning == "date" and pt.is_date32(type_):
        return _numbers(type_, FIRST_DAY, LAST_DAY, _same, "the years 0001 to 9999")
    if what == "time" and pt.is_time64(type_):
        nanoseconds = _NANOSECONDS[unit]
        scaled = _scaled(nanoseconds, 1 if type_.unit == "ns" else 1000)
        return _numbers(type_, 0, _DAY // nanoseconds - 1, scaled, "a day")
    if what in ("timestamp", "local-timestamp") and pt.is_timestamp(type_):
        nanoseconds = _NANOSECONDS[unit]
        # A 64-bit number of nanoseconds cannot leave these years
        low = max(FIRST_MICROSECOND * 1000 // nanoseconds, -(1 << 63))
        high = min((LAST_MICROSECOND * 1000 + 999) // nanoseconds, (1 << 63) - 1)
        return _numbers(type_, low, high, _scaled(nanoseconds, 1000), "the years 0001 to 9999")
    return None


def _same(number: int) -> int:
    return number


def _scaled(have: int, want: int) -> Callable[[int], int]:
    """From units of so many nanoseconds to units of so many, cutting off what the latter cannot hold."""
    return (lambda number: number * (have // want)) if have >= want else (lambda number: number // (want // have))


def _numbers(type_: pa.DataType, low: int, high: int, scale: Callable[[int], int], bounds: str) -> Conversion:
    name = sql_name(type_)
    ratio = scale(1000)

    def one(value: int) -> int:
        if not low <= value <= high:
            raise MalformedMessageError(f"{value} is not a {name}: outside {bounds}")
        return scale(value)

    def column(values: pa.Int64Array, reject: Reject) -> pa.Array:
        numbers = reject_outside(values, low, high, reject)
        if ratio > 1000:
            numbers = pc.multiply(numbers, ratio // 1000)
        elif ratio < 1000:
            numbers = _floor_divide(numbers, 1000 // ratio)
        return numbers.cast(pa.int32(), safe=False).view(type_) if pt.is_date32(type_) else numbers.cast(type_)

    return Conversion(one, column)


def _floor_divide(numbers: pa.Int64Array, divisor: int) -> pa.Int64Array:
    # Arrow's division cuts off toward zero
    truncated = pc.divide(numbers, divisor)
    below = pc.less(pc.subtract(numbers, pc.multiply(truncated, divisor)), 0)
    return pc.subtract(truncated, below.cast(pa.int64()))
