"""The csv encoder: columns become text, are quoted where needed, and joined."""

from __future__ import annotations

import base64

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace.contracts import Encoder, Payloads
from millrace.errors import MessageError
from millrace_formats.csv.options import CsvOptions
from millrace_formats.csv.quoting import Escaping, Quoting
from millrace_formats.shared.column_texts import (
    UTC_MARK,
    bare_timestamp_texts,
    date_texts,
    scientific_texts,
    time_texts,
    timestamp_texts,
    without_offset,
)
from millrace_formats.shared.insert_only import check_insertions
from millrace_formats.shared.java_text import double_text, plain_text

_JAVA_PLAIN = (1e-3, 1e7)  # Java and Python write floats in this range without an exponent


class CsvEncoder(Encoder):
    """Write rows as lines of separated values, without a line break at the end.

    Text and decimals are quoted as the reference does: when they are longer than 24 characters, or hold a backslash or
    a character up to the delimiter or the quote in the order of Unicode, as ``"1E+5"`` does. Other numbers are not
    quoted. Without a quote character the delimiter and line breaks are escaped; without an escape character too, a
    value that holds them cannot be written. NULL is the null literal, or nothing.

    Args:
        schema: The columns.
        options: The options of csv.
    """

    def __init__(self, schema: pa.Schema, options: CsvOptions) -> None:
        self._schema = schema
        self._options = options
        self._quotes_numbers = any(_may_be_in_number(c) for c in (options.delimiter, options.quote or ""))
        self._quoting = Escaping(options) if options.quote is None else Quoting(options, options.quote)

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch, one line a row."""
        check_insertions("csv", self._schema, rows, row_kinds)
        columns = [self._column(name, column) for name, column in zip(self._schema.names, rows.columns, strict=True)]
        return Payloads(pc.binary_join_element_wise(*columns, self._options.delimiter).cast(pa.binary()))

    def _column(self, name: str, column: pa.Array) -> pa.StringArray:
        try:
            texts = self._quoted_texts(column)
        except ValueError as error:
            raise MessageError(f"column {name}, {error}") from None
        return texts.fill_null(self._options.null_literal or "")

    def _quoted_texts(self, column: pa.Array) -> pa.StringArray:
        if pt.is_timestamp(column.type) and self._quoting.timestamp_quote is not None:
            zone = "" if column.type.tz is None else UTC_MARK
            quote, texts = self._quoting.timestamp_quote, bare_timestamp_texts(column, iso=False)
            return pc.binary_join_element_wise(quote, texts, zone + quote, "")
        texts = self._texts(column)
        return self._quoting.apply(texts) if self._quotes_numbers or not _is_never_quoted(column.type) else texts

    def _texts(self, column: pa.Array) -> pa.StringArray:
        if pt.is_list(column.type):
            return self._joined_lists(column)
        if pt.is_struct(column.type):
            return self._joined_structs(column)
        return _scalar_texts(column, self._options)

    def _joined_lists(self, column: pa.ListArray) -> pa.StringArray:
        column = without_offset(column)
        elements = self._texts(column.values).fill_null(self._options.null_literal or "")
        nulls = column.is_null() if column.null_count else None
        lists = pa.ListArray.from_arrays(column.offsets, elements, mask=nulls)
        return pc.binary_join(lists, self._options.array_element_delimiter)

    def _joined_structs(self, column: pa.StructArray) -> pa.StringArray:
        null = self._options.null_literal or ""
        parts = [self._texts(part).fill_null(null) for part in column.flatten()]
        joined = pc.binary_join_element_wise(*parts, self._options.array_element_delimiter)
        return pc.if_else(column.is_null(), pa.scalar(None, pa.string()), joined)


def _is_never_quoted(type_: pa.DataType) -> bool:
    return bool(pt.is_boolean(type_) or pt.is_integer(type_) or pt.is_floating(type_))


def _may_be_in_number(character: str) -> bool:
    return character.isalnum() or character in {"+", "-", "."}


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
        return scientific_texts(column) if options.scientific_decimals else _plain_decimals(column)
    return column.cast(pa.string())


def _float_texts(column: pa.Array) -> pa.StringArray:
    numbers = column.fill_null(0).to_numpy(zero_copy_only=False)  # keeps 32-bit floats what they are
    magnitudes = np.abs(numbers)
    plain = (magnitudes >= _JAVA_PLAIN[0]) & (magnitudes < _JAVA_PLAIN[1]) | (numbers == 0)
    with np.errstate(invalid="ignore"):
        is_whole = plain & (np.floor(numbers) == numbers)
    texts, fractions = column.cast(pa.string()), pa.array(["", ".0"]).take(pa.array(is_whole.astype(np.int8)))
    if not plain.all():
        exponential = pa.array([double_text(number) for number in numbers[~plain]], pa.string())
        texts = pc.replace_with_mask(texts, pa.array(~plain), exponential)
    return pc.binary_join_element_wise(texts, fractions, "")


def _plain_decimals(column: pa.Decimal128Array) -> pa.StringArray:
    return pa.array([None if value is None else plain_text(value) for value in column.to_pylist()], pa.string())
