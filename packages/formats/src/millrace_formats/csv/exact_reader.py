r"""Read CSV one message at a time, by the reference's rules: slow and complete. The fast reader gives the same rows.

Rules (those of Flink's ``CsvToRowDataConverters`` and of Jackson's CSV parser):

- A message is one line; line breaks may stand within quotes and at the end. A second line is an error. An empty message
  gives no row.
- A value is quoted when it starts with the quote character: up to the next single quote, a doubled one standing for
  itself; only blanks may follow. Elsewhere a quote is an ordinary character. Values are not trimmed.
- The escape character makes the next one ordinary, except in ``\n``, ``\r``, ``\t`` and ``\0``.
- Fewer values than columns are an error, or NULLs when parse errors are ignored; more are an error, or no row, except
  that one empty value too many is ignored.
- The null literal stands for NULL, quoted or not, also as an element; without one there are no NULLs, and an empty
  value is an empty STRING, and an error for a number.
- Text to BOOLEAN is true for "true" in any case, else false. Numbers are as Java parses them, blanks around them
  ignored; DECIMAL is exact, and rounded half up to the column's scale. Dates are yyyy-[m]m-[d]d, times HH:mm[:ss[.f]],
  timestamps yyyy-MM-dd HH:mm:ss[.f], TIMESTAMP with Z, an offset or none; BINARY is base64.
- ARRAY and STRUCT are values between the array element delimiter; an empty one is an empty ARRAY, a NULL STRUCT.
  The null literal alone is a NULL STRUCT, but, as in the reference, an ARRAY of one NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from millrace.errors import MalformedMessageError, MissingValueError
from millrace_formats.csv.line_splitter import LineSplitter
from millrace_formats.csv.options import CsvOptions
from millrace_formats.shared import java_text, sql_times
from millrace_formats.shared.field_conversion import convert_elements, keep_nullability
from millrace_formats.shared.sql_types import INTEGER_BITS, sql_name

Convert = Callable[[str], Any]

_MAX_SHOWN = 80
_LOOSE_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_SHORT_TIME = re.compile(r"[0-9]{2}:[0-9]{2}")


class CsvExactReader:
    """Read messages one at a time.

    Args:
        schema: The columns.
        options: The options of csv.
    """

    def __init__(self, schema: pa.Schema, options: CsvOptions) -> None:
        self._ignore = options.ignore_parse_errors
        self._split = LineSplitter(options, len(schema) + 1).split
        self._fields = [field_conversion(field, options) for field in schema]

    def read(self, payload: bytes | None) -> tuple[Any, ...] | None:
        """Read the values of a message's columns; None when it gives no row.

        Raises:
            MalformedMessageError: The message cannot be decoded.
        """
        if not payload:
            return None
        try:
            return self._row(payload)
        except MalformedMessageError as error:
            if not self._ignore or isinstance(error, MissingValueError):
                raise
        return None

    def _row(self, payload: bytes) -> tuple[Any, ...] | None:
        try:
            texts: list[str | None] | None = self._split(payload.decode("utf-8-sig"))  # type: ignore[assignment] # NULLs follow
        except UnicodeDecodeError as error:
            reason = f"not UTF-8: byte {payload[error.start]:#04x} at position {error.start}"
            raise MalformedMessageError(reason) from None
        except ValueError as error:
            raise MalformedMessageError(f"not CSV of {len(self._fields)} columns: {error}") from None
        if texts is None:
            return None
        count = len(self._fields)
        if len(texts) == count + 1 and not texts[-1]:
            texts.pop()
        if len(texts) > count or (len(texts) < count and not self._ignore):
            raise MalformedMessageError(f"{len(texts)} values for {count} columns")
        texts += [None] * (count - len(texts))
        return tuple(field(text) for field, text in zip(self._fields, texts, strict=True))


def field_conversion(field: pa.Field, options: CsvOptions) -> Callable[[str | None], Any]:
    """Return the conversion of a column's text, None when absent; it raises MalformedMessageError naming the column."""
    convert, ignore = _conversion(field.type, options), options.ignore_parse_errors
    return keep_nullability(convert, field.name, ignore=ignore, nullable=field.nullable)


def _conversion(type_: pa.DataType, options: CsvOptions) -> Convert:
    if pt.is_list(type_):
        return _array(type_.value_field, options)
    if pt.is_struct(type_):
        return _struct([type_.field(i) for i in range(type_.num_fields)], options)
    return _scalar(type_, options)


def _scalar(type_: pa.DataType, options: CsvOptions) -> Convert:
    convert, literal, name = scalar_conversion(type_), options.null_literal, sql_name(type_)

    def convert_scalar(text: str) -> Any:
        if text == literal:
            return None
        try:
            return convert(text)
        except ValueError as error:
            shown = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
            raise MalformedMessageError(f'"{shown}" cannot be read as {name}: {error}') from None

    return convert_scalar


def _array(field: pa.Field, options: CsvOptions) -> Convert:
    element, delimiter = field_conversion(field.with_name(""), options), options.array_element_delimiter

    def convert(text: str) -> list[Any]:
        return convert_elements(element, text.split(delimiter) if text else ())

    return convert


def _struct(fields: list[pa.Field], options: CsvOptions) -> Convert:
    parts, delimiter = [(f.name, field_conversion(f, options)) for f in fields], options.array_element_delimiter
    ignore, literal = options.ignore_parse_errors, options.null_literal

    def convert(text: str) -> dict[str, Any] | None:
        if not text or text == literal:
            return None
        texts: list[str | None] = list(text.split(delimiter))
        if len(texts) != len(parts) and not ignore:
            raise MalformedMessageError(f"{len(texts)} values for {len(parts)} fields")
        texts += [None] * (len(parts) - len(texts))
        return {name: part(text) for (name, part), text in zip(parts, texts, strict=False)}

    return convert


def scalar_conversion(type_: pa.DataType) -> Convert:
    """Return the conversion of text to a scalar type; it raises ValueError."""
    if bits := INTEGER_BITS.get(type_):
        return lambda text: java_text.parse_integer(text, bits)
    if pt.is_decimal128(type_):
        return lambda text: java_text.fit_decimal(java_text.parse_decimal(text), type_.precision, type_.scale)
    if pt.is_timestamp(type_):
        if type_.tz is None:
            return lambda text: sql_times.parse_local_timestamp(java_text.trim(text), iso=False)
        return lambda text: sql_times.parse_instant(java_text.trim(text), iso=False, zone=type_.tz)
    if pt.is_time64(type_):
        divisor = 1 if type_.unit == "ns" else 1000
        return lambda text: _time(text) // divisor
    return _CONVERSIONS[type_]


def _date(text: str) -> int:
    match = _LOOSE_DATE.fullmatch(text)
    if not match:
        raise ValueError("expected yyyy-[m]m-[d]d")
    return sql_times.parse_date(f"{match[1]}-{match[2]:0>2}-{match[3]:0>2}")


def _time(text: str) -> int:
    return sql_times.parse_time(f"{text}:00" if _SHORT_TIME.fullmatch(text) else text)


_CONVERSIONS: dict[pa.DataType, Convert] = {
    pa.bool_(): java_text.parse_boolean,
    pa.float32(): java_text.parse_float,
    pa.float64(): java_text.parse_double,
    pa.string(): str,
    pa.binary(): java_text.parse_base64,
    pa.date32(): _date,
}
