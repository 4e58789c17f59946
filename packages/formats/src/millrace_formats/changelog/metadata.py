"""What a change tells beside its rows: where that stands in the message, and how it is read on both paths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import MalformedMessageError
from millrace_formats.changelog.row_types import value_column, value_type
from millrace_formats.json.columns import Build, raw_texts
from millrace_formats.json.exact_reader import Convert, field_converter, scalar_conversion
from millrace_formats.json.msgspec_types import NULL
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.parser import parse, shown
from millrace_formats.shared.column_casts import Reject, reject_lists, reject_where
from millrace_formats.shared.nullability import keep_nullability
from millrace_formats.shared.sql_times import FIRST_MICROSECOND, LAST_MICROSECOND, check_range, parse_instant
from millrace_formats.shared.time_columns import parse_timestamps

INSTANT = pa.timestamp("us", "UTC")
TEXTS = pa.map_(pa.string(), pa.string())

_HARD = (b"[", b"{", b"\\")
_DATE_LENGTH = len("yyyy-MM-dd")


@dataclass(frozen=True)
class Reading:
    """How a JSON value becomes metadata.

    Attributes:
        type: The metadata's type.
        shape: What to ask msgspec for.
        column: Makes a column of what msgspec read.
        convert: Converts a value that the exact reader has parsed; raises MalformedMessageError.
    """

    type: pa.DataType
    shape: Any
    column: Build
    convert: Callable[[JsonOptions], Convert]


@dataclass(frozen=True)
class MetadataKey:
    """A key of a format's metadata.

    Attributes:
        field: The field of the message that tells it.
        reading: How its value is read.
        inner: The field within that object which tells it; None for all of it.
        is_of_root: Whether the field stands beside the payload, where there is one.
    """

    field: str
    reading: Reading
    inner: str | None = None
    is_of_root: bool = False

    def converter(self, options: JsonOptions) -> Convert:
        """What reads it from a parsed message, or from its payload."""
        path = self.field if self.inner is None else f"{self.field}.{self.inner}"
        convert = keep_nullability(
            self.reading.convert(options), path, ignore=options.ignore_parse_errors, nullable=True
        )
        return lambda tree: convert(self._found(tree, options))

    def _found(self, tree: dict[str, Any], options: JsonOptions) -> Any:
        value = tree.get(self.field)
        if self.inner is None or value is None:
            return value
        if isinstance(value, dict):
            return value.get(self.inner)
        if options.ignore_parse_errors:
            return None
        raise MalformedMessageError(f"expected an object, found {shown(value)}", self.field)


def plain(type_: pa.DataType) -> Reading:
    """A value as json reads it."""
    field = pa.field("", type_)
    return Reading(type_, value_type(field), value_column(field, False), lambda options: _json(type_, options))


def epoch(unit_us: int) -> Reading:
    """A time as a number since 1970 UTC, of units of so many microseconds."""
    numbers = plain(pa.int64())

    def column(values: list[Any], reject: Reject) -> pa.Array:
        counts = numbers.column(values, reject)
        low, high = -(-FIRST_MICROSECOND // unit_us), LAST_MICROSECOND // unit_us
        outside = pc.or_(pc.less(counts, low), pc.greater(counts, high))
        if pc.any(outside).as_py():
            reject_where(outside, reject)
            counts = pc.if_else(outside, 0, counts)
        return pc.multiply(counts, unit_us).view(INSTANT)

    def convert(options: JsonOptions) -> Convert:
        number = numbers.convert(options)
        return lambda value: _checked_range(number(value), unit_us)

    return Reading(INSTANT, numbers.shape, column, convert)


def moment() -> Reading:
    """A time as text, SQL's or of ISO 8601, in UTC unless it names another zone."""
    texts = plain(pa.string())

    def column(values: list[Any], reject: Reject) -> pa.Array:
        array = texts.column(values, reject)
        has_t = pc.equal(pc.utf8_slice_codeunits(array, _DATE_LENGTH, _DATE_LENGTH + 1), "T")
        with_space = pc.utf8_replace_slice(array, _DATE_LENGTH, _DATE_LENGTH + 1, " ")
        return parse_timestamps(pc.if_else(has_t, with_space, array), INSTANT, False, reject)

    def convert(options: JsonOptions) -> Convert:
        text = texts.convert(options)
        return lambda value: _instant(text(value))

    return Reading(INSTANT, texts.shape, column, convert)


def document() -> Reading:
    """Any JSON as its compact text, mostly the same in all messages."""
    return Reading(pa.string(), msgspec.Raw, _documents, lambda options: _json(pa.string(), options))


def properties() -> Reading:
    """An object of any scalars, as text."""
    return Reading(TEXTS, dict[str, msgspec.Raw] | None, _properties, lambda options: _json(TEXTS, options))


def texts_of(objects: list[dict[str, msgspec.Raw] | None], inner: str, reject: Reject) -> list[str | None]:
    """The text of one field of objects that msgspec read raw; what only the exact reader can is rejected."""
    texts = _scalar_texts([NULL if value is None else value.get(inner, NULL) for value in objects], reject)
    found: list[str | None] = texts.to_numpy(zero_copy_only=False).tolist()
    return found


def _json(type_: pa.DataType, options: JsonOptions) -> Convert:
    return field_converter(pa.field("", type_), options)


def _checked_range(number: int | None, unit_us: int) -> int | None:
    try:
        return None if number is None else check_range(number * unit_us)
    except ValueError as error:
        raise MalformedMessageError(f"{number} is not a time: {error}") from None


def _instant(text: str | None) -> int | None:
    try:
        return None if text is None else parse_instant(text, text[_DATE_LENGTH : _DATE_LENGTH + 1] in ("T", "t"), "UTC")
    except ValueError as error:
        raise MalformedMessageError(f"{shown(text)} is not a time: {error}") from None


def _documents(values: list[Any], reject: Reject) -> pa.Array:
    known: dict[bytes, str | None] = {}
    texts: list[str | None] = []
    to_text = scalar_conversion(pa.string(), False)
    for position, raw in enumerate(map(bytes, values)):
        if raw not in known:
            try:
                tree = parse(raw)
                known[raw] = None if tree is None else to_text(tree)
            except (MalformedMessageError, RecursionError):
                texts.append(None)
                reject(np.array([position]))
                continue
        texts.append(known[raw])
    return pa.array(texts, pa.string())


def _properties(values: list[Any], reject: Reject) -> pa.Array:
    sizes = [0 if value is None else len(value) for value in values]
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    filled = list(filter(None, values))
    names = pa.array(list(chain.from_iterable(filled)), pa.string())
    texts = _scalar_texts([raw for value in filled for raw in value.values()], reject_lists(reject, offsets))
    nulls = pa.array([value is None for value in values], pa.bool_())
    return pa.MapArray.from_arrays(pa.array(offsets), names, texts, type=TEXTS, mask=nulls)


def _scalar_texts(raws: list[Any], reject: Reject) -> pa.StringArray:
    """The texts of scalars; objects, arrays and text with escaped characters are rejected."""
    texts = raw_texts(raws)
    data = texts.buffers()[2].to_pybytes() if len(texts) else b""
    if any(sign in data for sign in _HARD):
        hard = pc.match_substring_regex(texts, r"^[\[{]|\\")
        if pc.any(hard).as_py():
            reject_where(hard, reject)
    return pc.if_else(pc.equal(texts, "null"), pa.scalar(None, pa.string()), pc.utf8_trim(texts, '"'))
