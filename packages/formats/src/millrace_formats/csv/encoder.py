"""The csv encoder: each column made text, quoted where needed, and the columns joined."""

from __future__ import annotations

import base64
import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace.contracts import Encoder, Payloads
from millrace.errors import MessageError
from millrace_formats.csv.options import CsvOptions
from millrace_formats.java_text import decimal_text, double_text
from millrace_formats.rows_only import check_rows
from millrace_formats.time_texts import date_texts, time_texts, timestamp_texts

_LONG = 24  # the reference looks for special characters in values up to this length, and quotes longer ones unseen
_JAVA_PLAIN = (1e-3, 1e7)  # where Java writes a float without an exponent, and so does Python


class CsvEncoder(Encoder):
    """Writes rows as lines of separated values without a line break at the end.

    Text is quoted as the reference does: when it is longer than 24 characters, or holds a backslash or a character up
    to the delimiter or the quote in the order of Unicode. Without a quote character the delimiter and line breaks are
    escaped; without an escape character too, a value that holds them cannot be written. NULL is the null literal, or
    nothing.

    Args:
        schema: The columns.
        options: The options of csv.
    """

    def __init__(self, schema: pa.Schema, options: CsvOptions) -> None:
        self._schema = schema
        self._options = options
        self._enclose_numbers = any(_may_stand_in_number(c) for c in (options.delimiter, options.quote or ""))
        self._enclose = _Escaping(options) if options.quote is None else _Quoting(options, options.quote)

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch, one line a row."""
        check_rows("csv", self._schema, rows, row_kinds)
        columns = [self._column(name, column) for name, column in zip(self._schema.names, rows.columns, strict=True)]
        return Payloads(pc.binary_join_element_wise(*columns, self._options.delimiter).cast(pa.binary()))

    def _column(self, name: str, column: pa.Array) -> pa.StringArray:
        try:
            texts = self._texts(column)
            if self._enclose_numbers or not _is_number(column.type):
                texts = self._enclose.enclosed(texts)
        except ValueError as error:
            raise MessageError(f"column {name}, {error}") from None
        return texts.fill_null(self._options.null_literal or "")

    def _texts(self, column: pa.Array) -> pa.StringArray:
        if pt.is_list(column.type):
            return self._joined_lists(column)
        if pt.is_struct(column.type):
            return self._joined_structs(column)
        return _scalar_texts(column, self._options)

    def _joined_lists(self, column: pa.ListArray) -> pa.StringArray:
        column = column if column.offset == 0 else pa.concat_arrays([column.slice(0, 0), column])
        elements = self._texts(column.values).fill_null(self._options.null_literal or "")
        nulls = column.is_null() if column.null_count else None
        lists = pa.ListArray.from_arrays(column.offsets, elements, mask=nulls)
        return pc.binary_join(lists, self._options.array_element_delimiter)

    def _joined_structs(self, column: pa.StructArray) -> pa.StringArray:
        null = self._options.null_literal or ""
        parts = [self._texts(part).fill_null(null) for part in column.flatten()]
        joined = pc.binary_join_element_wise(*parts, self._options.array_element_delimiter)
        return pc.if_else(column.is_null(), pa.scalar(None, pa.string()), joined)


def _is_number(type_: pa.DataType) -> bool:
    return bool(pt.is_boolean(type_) or pt.is_integer(type_) or pt.is_floating(type_) or pt.is_decimal(type_))


def _may_stand_in_number(character: str) -> bool:
    return character.isalnum() or character in {"+", "-", "."}


class _Quoting:
    """Quotes what needs it, doubling quotes within."""

    def __init__(self, options: CsvOptions, quote: str) -> None:
        self._quote, self._escape = quote, options.escape_character
        last = max(options.delimiter, quote, "\r")
        special = {"\\", options.delimiter, quote, self._escape or "\\"}
        self._unsafe = f"[\\x{{0}}-\\x{{{ord(last):x}}}" + "".join(f"\\x{{{ord(c):x}}}" for c in special) + "]"

    def enclosed(self, texts: pa.StringArray) -> pa.StringArray:
        inner = texts
        if self._escape is not None:
            inner = pc.replace_substring(inner, self._escape, self._escape * 2)
        inner = pc.replace_substring(inner, self._quote, self._quote * 2)
        quoted = pc.binary_join_element_wise(self._quote, inner, self._quote, "")
        needed = pc.or_(pc.match_substring_regex(texts, self._unsafe), pc.greater(pc.utf8_length(texts), _LONG))
        return pc.if_else(needed, quoted, texts)


class _Escaping:
    """Escapes what needs it, where there are no quotes."""

    def __init__(self, options: CsvOptions) -> None:
        self._escape, self._delimiter = options.escape_character, options.delimiter

    def enclosed(self, texts: pa.StringArray) -> pa.StringArray:
        if self._escape is None:
            return self._checked(texts)
        for character, written in ((self._escape,) * 2, (self._delimiter,) * 2, ("\n", "n"), ("\r", "r")):
            texts = pc.replace_substring(texts, character, self._escape + written)
        return texts

    def _checked(self, texts: pa.StringArray) -> pa.StringArray:
        unsafe = pc.match_substring_regex(texts, f"[\r\n{re.escape(self._delimiter)}]")
        row = pc.index(unsafe, True).as_py()
        if row >= 0:
            raise ValueError(
                f"row {row}: the value holds the delimiter or a line break, and there is no quote or escape character"
            )
        return texts


def _scalar_texts(column: pa.Array, options: CsvOptions) -> pa.StringArray:
    type_ = column.type
    if pt.is_timestamp(type_):
        return timestamp_texts(column, iso=False)
    if pt.is_time64(type_):
        return time_texts(column)
    if pt.is_date32(type_):
        return date_texts(column)
    if pt.is_binary(type_):
        encoded = [None if v is None else base64.b64encode(v).decode() for v in column.to_pylist()]
        return pa.array(encoded, pa.string())
    if pt.is_floating(type_):
        return _float_texts(column)
    if pt.is_decimal128(type_):
        return _decimal_texts(column, plain=not options.scientific_decimals)
    return column.cast(pa.string())


def _float_texts(column: pa.Array) -> pa.StringArray:
    numbers = column.fill_null(0).to_numpy(zero_copy_only=False)  # keeps 32-bit floats what they are
    magnitudes = np.abs(numbers)
    usual = (magnitudes >= _JAVA_PLAIN[0]) & (magnitudes < _JAVA_PLAIN[1]) | (numbers == 0)
    texts = np.array(numbers.astype(str), object)
    for place in np.flatnonzero(~usual).tolist():
        texts[place] = double_text(numbers[place])
    return pa.array(texts, pa.string(), mask=column.is_null().to_numpy(zero_copy_only=False))


def _decimal_texts(column: pa.Decimal128Array, plain: bool) -> pa.StringArray:
    values: list[Decimal | None] = column.to_pylist()
    return pa.array([None if value is None else decimal_text(value, plain) for value in values], pa.string())
