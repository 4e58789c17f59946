"""Metadata of change messages: the field of each key, and its conversion by both readers."""

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
from millrace_formats.json.columns import Build, list_offsets, raw_texts
from millrace_formats.json.exact_reader import Convert, field_converter, scalar_conversion
from millrace_formats.json.msgspec_types import NULL
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.parser import parse, shown
from millrace_formats.shared.column_casts import Reject, reject_lists, reject_where
from millrace_formats.shared.field_conversion import keep_nullability
from millrace_formats.shared.sql_times import FIRST_MICROSECOND, LAST_MICROSECOND, check_range, parse_instant
from millrace_formats.shared.time_columns import parse_timestamps

INSTANT = pa.timestamp("us", "UTC")
TEXTS = pa.map_(pa.string(), pa.string())

_ESCAPES_AND_NESTING = (b"[", b"{", b"\\")
_DATE_LENGTH = len("yyyy-MM-dd")


@dataclass(frozen=True)
class MetadataReader:
    """The conversion of a JSON value to metadata.

    Attributes:
        type: The metadata's Arrow type.
        msgspec_type: The type that msgspec reads.
        column: Builds a column of values that msgspec has read.
        convert: Returns the conversion of a value that the exact reader has parsed; it raises MalformedMessageError.
    """

    type: pa.DataType
    msgspec_type: Any
    column: Build
    convert: Callable[[JsonOptions], Convert]


@dataclass(frozen=True)
class MetadataKey:
    """A key of a format's metadata.

    Attributes:
        field: The field of the message.
        reader: The conversion of its value.
        inner: The field within that object; None for the whole object.
        is_of_root: Whether the field is beside the payload, where there is one.
    """

    field: str
    reader: MetadataReader
    inner: str | None = None
    is_of_root: bool = False

    def converter(self, options: JsonOptions) -> Convert:
        """Return the function that reads it from a parsed message, or from its payload."""
        path = self.field if self.inner is None else f"{self.field}.{self.inner}"
        convert = keep_nullability(self.reader.convert(options), path, ignore=options.nulls_fields, nullable=True)
        return lambda tree: convert(self._value(tree, options))

    def _value(self, tree: dict[str, Any], options: JsonOptions) -> Any:
        value = tree.get(self.field)
        if self.inner is None or value is None:
            return value
        if isinstance(value, dict):
            return value.get(self.inner)
        if options.nulls_fields:
            return None
        raise MalformedMessageError(f"expected an object, found {shown(value)}", self.field)


def plain(type_: pa.DataType) -> MetadataReader:
    """Read a value as json does."""
    field = pa.field("", type_)
    return MetadataReader(type_, value_type(field), value_column(field, False), lambda options: _json(type_, options))


def epoch(unit_us: int) -> MetadataReader:
    """Read a time as a number of units since 1970 UTC; the unit is given in microseconds."""
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
        return lambda value: _scale_to_microseconds(number(value), unit_us)

    return MetadataReader(INSTANT, numbers.msgspec_type, column, convert)


def timestamp_text() -> MetadataReader:
    """Read a time as text, SQL's or of ISO 8601, in UTC unless it names another zone."""
    texts = plain(pa.string())

    def column(values: list[Any], reject: Reject) -> pa.Array:
        array = texts.column(values, reject)
        has_t = pc.equal(pc.utf8_slice_codeunits(array, _DATE_LENGTH, _DATE_LENGTH + 1), "T")
        with_space = pc.utf8_replace_slice(array, _DATE_LENGTH, _DATE_LENGTH + 1, " ")
        return parse_timestamps(pc.if_else(has_t, with_space, array), INSTANT, False, reject)

    def convert(options: JsonOptions) -> Convert:
        text = texts.convert(options)
        return lambda value: _instant(text(value))

    return MetadataReader(INSTANT, texts.msgspec_type, column, convert)


def document() -> MetadataReader:
    """Read any JSON as compact text, mostly the same in all messages."""
    return MetadataReader(pa.string(), msgspec.Raw, _documents, lambda options: _json(pa.string(), options))


def properties() -> MetadataReader:
    """Read an object of any scalars as a map of texts."""
    return MetadataReader(TEXTS, dict[str, msgspec.Raw] | None, _properties, lambda options: _json(TEXTS, options))


def texts_of(objects: list[dict[str, msgspec.Raw] | None], inner: str, reject: Reject) -> list[str | None]:
    """Return the text of one field of objects that msgspec read raw, rejecting what only the exact reader can read."""
    texts = _scalar_texts([NULL if value is None else value.get(inner, NULL) for value in objects], reject)
    values: list[str | None] = texts.to_numpy(zero_copy_only=False).tolist()
    return values


def _json(type_: pa.DataType, options: JsonOptions) -> Convert:
    return field_converter(pa.field("", type_), options)


def _scale_to_microseconds(number: int | None, unit_us: int) -> int | None:
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
    text_by_raw: dict[bytes, str | None] = {}
    texts: list[str | None] = []
    to_text = scalar_conversion(pa.string(), False)
    for index, raw in enumerate(map(bytes, values)):
        if raw not in text_by_raw:
            try:
                tree = parse(raw)
                text_by_raw[raw] = None if tree is None else to_text(tree)
            except (MalformedMessageError, RecursionError):
                texts.append(None)
                reject(np.array([index]))
                continue
        texts.append(text_by_raw[raw])
    return pa.array(texts, pa.string())


def _properties(values: list[Any], reject: Reject) -> pa.Array:
    offsets, nulls = list_offsets(values)
    objects = list(filter(None, values))
    names = pa.array(list(chain.from_iterable(objects)), pa.string())
    texts = _scalar_texts([raw for value in objects for raw in value.values()], reject_lists(reject, offsets))

    return pa.MapArray.from_arrays(pa.array(offsets), names, texts, type=TEXTS, mask=nulls)


def _scalar_texts(raws: list[Any], reject: Reject) -> pa.StringArray:
    """Return the texts of scalars; objects, arrays and text with escaped characters are rejected."""
    texts = raw_texts(raws)
    data = texts.buffers()[2].to_pybytes() if len(texts) else b""
    if any(sign in data for sign in _ESCAPES_AND_NESTING):
        unreadable = pc.match_substring_regex(texts, r"^[\[{]|\\")
        if pc.any(unreadable).as_py():
            reject_where(unreadable, reject)
    return pc.if_else(pc.equal(texts, "null"), pa.scalar(None, pa.string()), pc.utf8_trim(texts, '"'))
