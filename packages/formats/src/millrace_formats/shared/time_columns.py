"""Parse whole columns of dates and timestamps, rejecting text that `sql_times` reads otherwise."""

from __future__ import annotations

from datetime import UTC

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.shared.column_casts import Reject, cast_or_reject, reject_where
from millrace_formats.shared.sql_times import FIRST_DAY, FIRST_MICROSECOND, LAST_MICROSECOND, to_utc, zone_info

_LOCAL = pa.timestamp("us")
# From the year 2038 on Arrow's tables know no summer time. (A number, as pyarrow makes timestamp scalars with pandas.)
_END_OF_ZONE_TABLES = 2_145_916_800_000_000
_UTC = pa.timestamp("us", "UTC")
_SECONDS = len("yyyy-MM-dd HH:mm:ss")
_MICROSECONDS = len("yyyy-MM-dd HH:mm:ss.ffffff")
_OFFSET = len("+hh:mm")


def parse_dates(texts: pa.StringArray, reject: Reject) -> pa.Date32Array:
    """Parse ``yyyy-MM-dd``; other text, and years outside 0001 to 9999, are rejected."""
    dates = cast_or_reject(texts, pa.date32(), reject)
    days = dates.view(pa.int32())
    early = pc.less(days, FIRST_DAY)
    if pc.any(early).as_py():
        reject_where(early, reject)
    return dates


def parse_timestamps(texts: pa.StringArray, type_: pa.TimestampType, iso: bool, reject: Reject) -> pa.TimestampArray:
    """Parse timestamps with up to six digits of fraction and, for types with a time zone, ``Z`` or ``+hh:mm``.

    Args:
        texts: The text, or null.
        type_: Microseconds; with a time zone, text that names no other is in that one.
        iso: Whether ``T`` stands between date and time; else it is a space.
        reject: Takes the indices of all other text.
    """
    present = texts.drop_null() if texts.null_count else texts
    separator = "T" if iso else " "
    local = _TimestampForm(present, separator).local()
    if local.all():
        return _parse_local(texts, type_, reject)
    zoned = np.zeros(len(present), bool)
    if type_.tz is not None:
        others = np.flatnonzero(~local)
        zoned[others] = _TimestampForm(present.take(pa.array(others)) if local.any() else present, separator).zoned()
    indices = np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))
    unusual = ~(local | zoned)
    if unusual.any():
        reject(indices[unusual])
    if not zoned.any():
        return _parse_local(_only(texts, indices[local]), type_, reject)
    instants = cast_or_reject(_only(texts, indices[zoned]), _UTC, reject)
    instants = _reject_out_of_range(instants, reject).cast(type_)
    if not local.any():
        return instants
    return pc.coalesce(_parse_local(_only(texts, indices[local]), type_, reject), instants)


def _parse_local(texts: pa.StringArray, type_: pa.TimestampType, reject: Reject) -> pa.TimestampArray:
    """Parse timestamps without a time zone; with one in the type, they are in that zone."""
    times = _reject_out_of_range(cast_or_reject(texts, _LOCAL, reject), reject)
    return times if type_.tz is None else _to_instants(times, type_.tz, reject).cast(type_)


def _only(texts: pa.StringArray, indices: np.ndarray) -> pa.StringArray:
    """Return the texts at some indices, null elsewhere."""
    mask = np.zeros(len(texts), bool)
    mask[indices] = True
    return pc.if_else(pa.array(mask), texts, pa.scalar(None, pa.string()))


class _TimestampForm:
    """Check the separators of timestamps by their position.

    Mostly all texts have one length, so that characters at a position are a column of a matrix; else each is looked up.

    Args:
        texts: Text without nulls.
        separator: The character between date and time.
    """

    def __init__(self, texts: pa.StringArray, separator: str) -> None:
        _, offsets, data = texts.buffers()
        ends = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
        self._data = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
        self._start, self._length = ends[:-1], np.diff(ends)
        self._width = int(self._length[0]) if len(texts) and (self._length == self._length[0]).all() else None
        self._separator = separator

    def local(self) -> np.ndarray:
        """Return a mask of timestamps without a time zone."""
        if self._width is not None:
            return self._has_form(self._width)
        return self._has_form(self._length)

    def zoned(self) -> np.ndarray:
        """Return a mask of timestamps that end in ``Z`` or ``+hh:mm``."""
        length = self._length if self._width is None else self._width
        utc = self._is(length - 1, "Z")
        if self._width is not None and utc.all():
            return self._has_form(self._width - 1)
        offset = (self._is(length - _OFFSET, "+") | self._is(length - _OFFSET, "-")) & self._is(length - 3, ":")
        zoned: np.ndarray = (utc | offset) & self._has_form(length - np.where(utc, 1, _OFFSET))
        return zoned

    def _has_form(self, body: int | np.ndarray) -> np.ndarray:
        """Return a mask of texts whose separators, up to a length, are those of a date and time."""
        last = self._at(body - 1)
        matches: np.ndarray = (last >= ord("0")) & (last <= ord("9"))
        for position, character in ((10, self._separator), (13, ":"), (16, ":")):
            matches &= self._is(position, character)
        whole = body == _SECONDS
        if np.all(whole):
            return matches
        fraction = (body > _SECONDS + 1) & (body <= _MICROSECONDS) & self._is(_SECONDS, ".")
        for distance in (3, 5, 6):  # where Arrow would see the sign of an offset
            fraction &= ~(self._is(body - distance, "+") | self._is(body - distance, "-"))
        matches &= whole | fraction
        return matches

    def _is(self, position: int | np.ndarray, character: str) -> np.ndarray:
        mask: np.ndarray = self._at(position) == ord(character)
        return mask

    def _at(self, position: int | np.ndarray) -> np.ndarray:
        """Return the characters at a position; any characters where it is beyond a text's end."""
        count = len(self._start)
        if self._width is not None and isinstance(position, int):
            if not 0 <= position < self._width:
                return np.zeros(count, np.uint8)
            first = int(self._start[0])
            return self._data[first : first + count * self._width].reshape(count, self._width)[:, position]
        characters: np.ndarray = self._data.take(self._start + position, mode="clip")
        return characters


def _reject_out_of_range(times: pa.TimestampArray, reject: Reject) -> pa.TimestampArray:
    numbers = times.view(pa.int64())
    bounds = pc.min_max(numbers)
    low, high = bounds["min"].as_py(), bounds["max"].as_py()
    if low is not None and (low < FIRST_MICROSECOND or high > LAST_MICROSECOND):
        outside = pc.or_(pc.less(numbers, FIRST_MICROSECOND), pc.greater(numbers, LAST_MICROSECOND))
        reject_where(outside, reject)
    return times


def _to_instants(local: pa.TimestampArray, zone: str, reject: Reject) -> pa.TimestampArray:
    if zone_info(zone) is UTC:
        return local.view(pa.int64()).view(_UTC)
    instants = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="earliest")
    skipped = pc.not_equal(pc.local_timestamp(instants), local)
    if pc.any(skipped).as_py():
        reject_where(skipped, reject)
    late = pc.greater_equal(local.view(pa.int64()), _END_OF_ZONE_TABLES)
    instants = instants.cast(_UTC)
    if pc.any(late).as_py():
        instants = _replace_late(instants, local, late.fill_null(False), zone, reject)
    return _reject_out_of_range(instants, reject)


def _replace_late(
    instants: pa.TimestampArray, local: pa.TimestampArray, late: pa.BooleanArray, zone: str, reject: Reject
) -> pa.TimestampArray:
    """Replace the instants of late times by those that the zone's rules give."""
    replacements: list[int | None] = []
    for index in np.flatnonzero(late.to_numpy(zero_copy_only=False)).tolist():
        try:
            replacements.append(to_utc(local[index].value, zone))
        except ValueError:
            replacements.append(None)
            reject(np.array([index]))
    return pc.replace_with_mask(instants, late, pa.array(replacements, pa.int64()).view(_UTC))
