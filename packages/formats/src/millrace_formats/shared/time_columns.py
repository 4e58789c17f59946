"""Dates and timestamps of a whole column from text, where that gives exactly what `sql_times` gives."""

from __future__ import annotations

from datetime import UTC

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.shared.column_casts import Reject, cast_or_reject, reject_where
from millrace_formats.shared.sql_times import FIRST_DAY, FIRST_MICROSECOND, LAST_MICROSECOND, to_utc, zone_info

_LOCAL = pa.timestamp("us")
# The year 2038, from which on Arrow's tables know no summer time. A number, since pyarrow makes timestamps with pandas.
_BEYOND_TABLES = 2_145_916_800_000_000
_UTC = pa.timestamp("us", "UTC")
_SECONDS = len("yyyy-MM-dd HH:mm:ss")
_MICROSECONDS = len("yyyy-MM-dd HH:mm:ss.ffffff")
_OFFSET = len("+hh:mm")


def parse_dates(texts: pa.StringArray, reject: Reject) -> pa.Date32Array:
    """Parse ``yyyy-MM-dd``; positions of other text, and of years outside 0001 to 9999, are rejected."""
    dates = cast_or_reject(texts, pa.date32(), reject)
    days = dates.view(pa.int32())
    early = pc.less(days, FIRST_DAY)
    if pc.any(early).as_py():
        reject_where(early, reject)
    return dates


def parse_timestamps(texts: pa.StringArray, type_: pa.TimestampType, iso: bool, reject: Reject) -> pa.TimestampArray:
    """Parse timestamps of the usual forms: up to six digits of fraction, and, with a time zone, ``Z`` or ``+hh:mm``.

    Args:
        texts: The text, or null.
        type_: Microseconds; with a time zone, text that names no other is in that one.
        iso: Whether ``T`` stands between date and time; else it is a space.
        reject: Is told the positions of everything else.
    """
    present = texts.drop_null() if texts.null_count else texts
    separator = "T" if iso else " "
    local = _Form(present, separator).local()
    if local.all():
        return _local(texts, type_, reject)
    zoned = np.zeros(len(present), bool)
    if type_.tz is not None:
        rest = np.flatnonzero(~local)
        zoned[rest] = _Form(present.take(pa.array(rest)) if local.any() else present, separator).zoned()
    places = _places(texts)
    odd = ~(local | zoned)
    if odd.any():
        reject(places[odd])
    if not zoned.any():
        return _local(_only(texts, places[local]), type_, reject)
    there = _in_range(cast_or_reject(_only(texts, places[zoned]), _UTC, reject), reject).cast(type_)
    return pc.coalesce(_local(_only(texts, places[local]), type_, reject), there) if local.any() else there


def _local(texts: pa.StringArray, type_: pa.TimestampType, reject: Reject) -> pa.TimestampArray:
    """The timestamps of texts without a time zone."""
    times = _in_range(cast_or_reject(texts, _LOCAL, reject), reject)
    return times if type_.tz is None else _in_zone(times, type_.tz, reject).cast(type_)


def _only(texts: pa.StringArray, places: np.ndarray) -> pa.StringArray:
    """The texts at some places, null elsewhere."""
    wanted = np.zeros(len(texts), bool)
    wanted[places] = True
    return pc.if_else(pa.array(wanted), texts, pa.scalar(None, pa.string()))


class _Form:
    """Where the separators of timestamps are.

    Mostly all are of one length, so that their characters are the columns of a matrix; of others each is looked up.

    Args:
        texts: Text without nulls.
        separator: What stands between date and time.
    """

    def __init__(self, texts: pa.StringArray, separator: str) -> None:
        _, offsets, data = texts.buffers()
        ends = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
        self._data = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
        self._start, self._length = ends[:-1], np.diff(ends)
        self._width = int(self._length[0]) if len(texts) and (self._length == self._length[0]).all() else None
        self._separator = separator

    def local(self) -> np.ndarray:
        """Which are without a time zone."""
        if self._width is not None:
            return self._usual(self._width)
        return self._usual(self._length)

    def zoned(self) -> np.ndarray:
        """Which end in ``Z`` or ``+hh:mm``, after which their body is as of a local one."""
        length = self._length if self._width is None else self._width
        utc = self._is(length - 1, "Z")
        if self._width is not None and utc.all():
            return self._usual(self._width - 1)
        offset = (self._is(length - _OFFSET, "+") | self._is(length - _OFFSET, "-")) & self._is(length - 3, ":")
        usual: np.ndarray = (utc | offset) & self._usual(length - np.where(utc, 1, _OFFSET))
        return usual

    def _usual(self, body: int | np.ndarray) -> np.ndarray:
        """Where the text up to a length is a date and time, with or without a fraction, but for its digits."""
        last = self._at(body - 1)
        fits: np.ndarray = (last >= ord("0")) & (last <= ord("9"))
        for position, character in ((10, self._separator), (13, ":"), (16, ":")):
            fits &= self._is(position, character)
        whole = body == _SECONDS
        if np.all(whole):
            return fits
        fraction = (body > _SECONDS + 1) & (body <= _MICROSECONDS) & self._is(_SECONDS, ".")
        for distance in (3, 5, 6):  # where Arrow would see the sign of an offset
            fraction &= ~(self._is(body - distance, "+") | self._is(body - distance, "-"))
        fits &= whole | fraction
        return fits

    def _is(self, position: int | np.ndarray, character: str) -> np.ndarray:
        found: np.ndarray = self._at(position) == ord(character)
        return found

    def _at(self, position: int | np.ndarray) -> np.ndarray:
        """The characters at a position, which is checked against the length elsewhere: beyond it they are any."""
        count = len(self._start)
        if self._width is not None and isinstance(position, int):
            if not 0 <= position < self._width:
                return np.zeros(count, np.uint8)
            first = int(self._start[0])
            return self._data[first : first + count * self._width].reshape(count, self._width)[:, position]
        characters: np.ndarray = self._data.take(self._start + position, mode="clip")
        return characters


def _places(texts: pa.StringArray) -> np.ndarray:
    """The positions of values that are not null."""
    return np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))


def _in_range(times: pa.TimestampArray, reject: Reject) -> pa.TimestampArray:
    numbers = times.view(pa.int64())
    bounds = pc.min_max(numbers)
    low, high = bounds["min"].as_py(), bounds["max"].as_py()
    if low is not None and (low < FIRST_MICROSECOND or high > LAST_MICROSECOND):
        outside = pc.or_(pc.less(numbers, FIRST_MICROSECOND), pc.greater(numbers, LAST_MICROSECOND))
        reject_where(outside, reject)
    return times


def _in_zone(local: pa.TimestampArray, zone: str, reject: Reject) -> pa.TimestampArray:
    if zone_info(zone) is UTC:
        return local.view(pa.int64()).view(_UTC)
    instants = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="earliest")
    skipped = pc.not_equal(pc.local_timestamp(instants), local)
    if pc.any(skipped).as_py():
        reject_where(skipped, reject)
    late = pc.greater_equal(local.view(pa.int64()), _BEYOND_TABLES)
    instants = instants.cast(_UTC)
    if pc.any(late).as_py():
        instants = _with_late(instants, local, late.fill_null(False), zone, reject)
    return _in_range(instants, reject)


def _with_late(
    instants: pa.TimestampArray, local: pa.TimestampArray, late: pa.BooleanArray, zone: str, reject: Reject
) -> pa.TimestampArray:
    """The instants, with those of late times by the rules of the zone."""
    found: list[int | None] = []
    for place in np.flatnonzero(late.to_numpy(zero_copy_only=False)).tolist():
        try:
            found.append(to_utc(local[place].value, zone))
        except ValueError:
            found.append(None)
            reject(np.array([place]))
    return pc.replace_with_mask(instants, late, pa.array(found, pa.int64()).view(_UTC))
