"""Format columns of dates, times, timestamps and decimals as text, as the reference does."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.shared.java_text import scientific_text
from millrace_formats.shared.sql_times import FIRST_DAY, FIRST_MICROSECOND, LAST_DAY, LAST_MICROSECOND

UTC_MARK = "Z"

_DATE = len("yyyy-MM-dd")
_WHOLE_SECONDS = len("yyyy-MM-dd HH:mm:ss")
_EXPONENT = 7  # Arrow and Java write 1e-7 and smaller with an exponent


def date_texts(column: pa.Date32Array) -> pa.StringArray:
    """Format dates as ``yyyy-MM-dd``; ValueError naming the row when a year is outside 0001 to 9999."""
    _check_range(column.view(pa.int32()), FIRST_DAY, LAST_DAY)
    return column.cast(pa.string())


def time_texts(column: pa.Time64Array) -> pa.StringArray:
    """Format times as ``HH:mm:ss[.fraction]``."""
    return _without_zeros(column.cast(pa.string()))


def timestamp_texts(column: pa.TimestampArray, iso: bool) -> pa.StringArray:
    """Format timestamps as ``yyyy-MM-dd HH:mm:ss[.fraction]``, with as many digits as needed.

    Args:
        column: Microseconds; with a time zone they are written in UTC and end in ``Z``.
        iso: Whether ``T`` stands between date and time instead of a space.

    Raises:
        ValueError: A year is outside 0001 to 9999; the message names the row.
    """
    texts = bare_timestamp_texts(column, iso)
    if column.type.tz is None:
        return texts
    if pc.max(pc.binary_length(texts)).as_py() == _WHOLE_SECONDS:
        # All texts have this length: padding takes a quarter of the time of a join
        return pc.ascii_rpad(texts, _WHOLE_SECONDS + len(UTC_MARK), padding=UTC_MARK)
    return pc.binary_join_element_wise(texts, UTC_MARK, "")


def bare_timestamp_texts(column: pa.TimestampArray, iso: bool) -> pa.StringArray:
    """Format timestamps as `timestamp_texts` does, without the ``Z`` of those with a time zone."""
    numbers = column.view(pa.int64())
    _check_range(numbers, FIRST_MICROSECOND, LAST_MICROSECOND)
    times = numbers.view(pa.timestamp("us"))
    try:
        texts = times.cast(pa.timestamp("s")).cast(pa.string())
    except pa.ArrowInvalid:  # some have fractions
        texts = _without_zeros(times.cast(pa.string()))
    return pc.utf8_replace_slice(texts, _DATE, _DATE + 1, "T") if iso else texts


def scientific_texts(column: pa.Decimal128Array) -> pa.StringArray:
    """Format ``1.50`` as ``1.5``, ``100`` as ``1E+2``, ``0.000000100`` as ``1E-7``, as `scientific_text` does."""
    texts = column.cast(pa.string())
    type_ = column.type
    if type_.scale > 0:
        texts = pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), ".")
        texts = pc.if_else(pc.equal(column, pa.scalar(0, type_)), "0", texts)
    exponential = pc.and_(pc.ends_with(texts, "0"), pc.not_equal(texts, "0"))
    if type_.scale >= _EXPONENT:
        exponential = pc.or_(exponential, pc.match_substring(texts, "E"))
    if not pc.any(exponential).as_py():
        return texts
    replacements = [scientific_text(number) for number in column.filter(exponential).to_pylist()]
    return pc.replace_with_mask(texts, exponential.fill_null(False), pa.array(replacements, pa.string()))


def without_offset(column: pa.Array) -> pa.Array:
    """Copy a sliced column, so that its offsets and children can be used as they are."""
    return column if column.offset == 0 else pa.concat_arrays([column.slice(0, 0), column])


def _without_zeros(texts: pa.StringArray) -> pa.StringArray:
    return pc.ascii_rtrim(pc.ascii_rtrim(texts, "0"), ".")


def _check_range(numbers: pa.Array, low: int, high: int) -> None:
    bounds = pc.min_max(numbers)
    if bounds["min"].as_py() is None or (bounds["min"].as_py() >= low and bounds["max"].as_py() <= high):
        return
    row = pc.index(pc.or_(pc.less(numbers, low), pc.greater(numbers, high)), True).as_py()
    raise ValueError(f"row {row}: outside the years 0001 to 9999")
