"""Dates and timestamps of a whole column from text, where that gives exactly what `sql_times` gives."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.sql_times import FIRST_DAY, FIRST_MICROSECOND, LAST_MICROSECOND, zone_info

Reject = Callable[[np.ndarray], None]

_LOCAL = pa.timestamp("us")
_UTC = pa.timestamp("us", "UTC")
_SECONDS = len("yyyy-MM-dd HH:mm:ss")
_MICROSECONDS = len("yyyy-MM-dd HH:mm:ss.ffffff")
_OFFSET = len("+hh:mm")


def parse_dates(texts: pa.StringArray, reject: Reject) -> pa.Date32Array:
    """Parse ``yyyy-MM-dd``; positions of other text, and of years outside 0001 to 9999, are rejected."""
    dates = cast_where_possible(texts, pa.date32(), reject)
    days = dates.view(pa.int32())
    early = pc.less(days, FIRST_DAY)
    if pc.any(early).as_py():
        reject(np.flatnonzero(early.fill_null(False).to_numpy(zero_copy_only=False)))
    return dates


def parse_timestamps(texts: pa.StringArray, type_: pa.TimestampType, iso: bool, reject: Reject) -> pa.TimestampArray:
    """Parse timestamps of the usual forms: up to six digits of fraction, and, with a time zone, ``Z`` or ``+hh:mm``.

    Args:
        texts: The text, or null.
        type_: Microseconds; with a time zone, text that names no other is in that one.
        iso: Whether ``T`` stands between date and time; else it is a space.
        reject: Is told the positions of everything else.
    """
    form = _Form(texts, "T" if iso else " ")
    local, zoned = form.local(), form.zoned() if type_.tz is not None else None
    fine = local if zoned is None else local | zoned
    if not fine.all():
        reject(np.flatnonzero(~fine & form.valid))
        texts = pc.if_else(pa.array(fine), texts, pa.scalar(None, pa.string()))
    if zoned is None:
        return _in_range(cast_where_possible(texts, _LOCAL, reject), reject)
    if zoned[form.valid].all():
        return _in_range(cast_where_possible(texts, _UTC, reject), reject).cast(type_)
    return _mixed(texts, local, type_, reject)


def cast_where_possible(texts: pa.Array, type_: pa.DataType, reject: Reject, start: int = 0) -> pa.Array:
    """Cast values, rejecting what Arrow does not take and making it null.

    Args:
        texts: Text or other values, or null.
        type_: What to cast to.
        reject: Is told the positions that could not be cast.
        start: Is added to those positions.
    """
    try:
        return texts.cast(type_)
    except pa.ArrowInvalid:
        if len(texts) == 1:
            reject(np.array([start]))
            return pa.nulls(1, type_)
        half = len(texts) // 2
        first = cast_where_possible(texts[:half], type_, reject, start)
        return pa.concat_arrays([first, cast_where_possible(texts[half:], type_, reject, start + half)])


class _Form:
    """Where the separators of a column's timestamps are; null and short text has none."""

    def __init__(self, texts: pa.StringArray, separator: str) -> None:
        _, offsets, data = texts.buffers()
        ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
        self._data = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
        self._start, self._length = ends[:-1], np.diff(ends)
        self.valid = texts.is_valid().to_numpy(zero_copy_only=False)
        self._head = self._length >= _SECONDS
        for position, character in ((10, separator), (13, ":"), (16, ":")):
            self._head &= self._at(position) == ord(character)

    def local(self) -> np.ndarray:
        """Which are without a time zone."""
        usual: np.ndarray = self._fits(self._length) & self._digit(self._length - 1)
        return usual

    def zoned(self) -> np.ndarray:
        """Which end in ``Z`` or ``+hh:mm``, after which their body is as of a local one."""
        utc = self._at(self._length - 1) == ord("Z")
        sign = self._at(self._length - _OFFSET)
        offset = ((sign == ord("+")) | (sign == ord("-"))) & (self._at(self._length - 3) == ord(":"))
        body = self._length - np.where(utc, 1, _OFFSET)
        usual: np.ndarray = (utc | offset) & self._fits(body) & self._digit(body - 1)
        return usual

    def _fits(self, body: np.ndarray) -> np.ndarray:
        fraction: np.ndarray = (body > _SECONDS + 1) & (body <= _MICROSECONDS) & (self._at(_SECONDS) == ord("."))
        for distance in (3, 5, 6):  # where Arrow would see the sign of an offset
            character = self._at(body - distance)
            fraction &= (character != ord("+")) & (character != ord("-"))
        fits: np.ndarray = self._head & ((body == _SECONDS) | fraction)
        return fits

    def _digit(self, position: np.ndarray) -> np.ndarray:
        character = self._at(position)
        digit: np.ndarray = (character >= ord("0")) & (character <= ord("9"))
        return digit

    def _at(self, position: np.ndarray | int) -> np.ndarray:
        # beyond a text's end this is another's character: its length is checked as well
        characters: np.ndarray = self._data.take(self._start + position, mode="clip")
        return characters


def _in_range(times: pa.TimestampArray, reject: Reject) -> pa.TimestampArray:
    numbers = times.view(pa.int64())
    bounds = pc.min_max(numbers)
    low, high = bounds["min"].as_py(), bounds["max"].as_py()
    if low is not None and (low < FIRST_MICROSECOND or high > LAST_MICROSECOND):
        outside = pc.or_(pc.less(numbers, FIRST_MICROSECOND), pc.greater(numbers, LAST_MICROSECOND))
        reject(np.flatnonzero(outside.fill_null(False).to_numpy(zero_copy_only=False)))
    return times


def _mixed(texts: pa.StringArray, local: np.ndarray, type_: pa.TimestampType, reject: Reject) -> pa.TimestampArray:
    is_local, nothing = pa.array(local), pa.scalar(None, pa.string())
    here = _in_range(cast_where_possible(pc.if_else(is_local, texts, nothing), _LOCAL, reject), reject)
    there = _in_range(cast_where_possible(pc.if_else(is_local, nothing, texts), _UTC, reject), reject)
    return pc.coalesce(_in_zone(here, type_.tz, reject), there).cast(type_)


def _in_zone(local: pa.TimestampArray, zone: str, reject: Reject) -> pa.TimestampArray:
    if zone_info(zone) is UTC:
        return local.view(pa.int64()).view(_UTC)
    instants = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="earliest")
    skipped = pc.not_equal(pc.local_timestamp(instants), local)
    if pc.any(skipped).as_py():
        reject(np.flatnonzero(skipped.fill_null(False).to_numpy(zero_copy_only=False)))
    return _in_range(instants.cast(_UTC), reject)
