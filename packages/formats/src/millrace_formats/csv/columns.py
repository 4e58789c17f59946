"""Columns from columns of text, where that gives exactly what the exact reader gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace_formats.bad_message import BadMessageError
from millrace_formats.csv.exact import field_conversion
from millrace_formats.csv.options import CsvOptions
from millrace_formats.decimal_columns import parse_decimals
from millrace_formats.time_columns import Reject, cast_where_possible, parse_dates, parse_timestamps

TextColumn = Callable[[pa.StringArray, Reject], pa.Array]
"""Makes a column from texts; is told whom to report positions to that the exact reader has to read."""

_BLANKS = "".join(map(chr, range(0x21)))


def text_column(field: pa.Field, options: CsvOptions) -> TextColumn:
    """The conversion of a column of texts."""
    convert = _vectorised(field.type)
    if convert is None:
        return _one_by_one(field, options)
    literal = options.null_literal

    def build(texts: pa.StringArray, reject: Reject) -> pa.Array:
        if literal is not None:
            texts = pc.if_else(pc.equal(texts, literal), pa.scalar(None, pa.string()), texts)
            if not field.nullable and texts.null_count:
                reject(np.flatnonzero(texts.is_null().to_numpy(zero_copy_only=False)))
        return convert(texts, reject)

    return build


def _vectorised(type_: pa.DataType) -> TextColumn | None:
    if pt.is_integer(type_):
        return lambda texts, reject: _integers(texts, type_, reject)
    if pt.is_floating(type_):
        return lambda texts, reject: _floats(texts, type_, reject)
    if pt.is_decimal128(type_):
        return lambda texts, reject: parse_decimals(texts, type_, reject)
    if pt.is_timestamp(type_):
        return lambda texts, reject: parse_timestamps(texts, type_, False, reject)
    return _VECTORISED.get(type_)


def _integers(texts: pa.StringArray, type_: pa.DataType, reject: Reject) -> pa.Array:
    numbers = cast_where_possible(texts, type_, reject)
    hexadecimal = pc.match_substring(texts, "x", ignore_case=True)  # which Arrow takes and Java does not
    if pc.any(hexadecimal).as_py():
        reject(np.flatnonzero(hexadecimal.fill_null(False).to_numpy(zero_copy_only=False)))
    return numbers


def _floats(texts: pa.StringArray, type_: pa.DataType, reject: Reject) -> pa.Array:
    numbers = cast_where_possible(texts, pa.float64(), reject)
    odd = pc.invert(pc.is_finite(numbers))  # Arrow has more spellings of infinity than Java
    if pc.any(odd).as_py():
        reject(np.flatnonzero(odd.fill_null(False).to_numpy(zero_copy_only=False)))
    return numbers if type_ == pa.float64() else numbers.cast(type_)


def _booleans(texts: pa.StringArray, _: Reject) -> pa.BooleanArray:
    return pc.equal(pc.ascii_lower(pc.utf8_trim(texts, _BLANKS)), "true")


_VECTORISED: dict[pa.DataType, TextColumn] = {
    pa.string(): lambda texts, _: texts,
    pa.bool_(): _booleans,
    pa.date32(): parse_dates,
}


def _one_by_one(field: pa.Field, options: CsvOptions) -> TextColumn:
    convert = field_conversion(field, options)

    def build(texts: pa.StringArray, reject: Reject) -> pa.Array:
        values, wrong = [], []
        for position, text in enumerate(texts.to_pylist()):
            try:
                values.append(convert(text))
            except BadMessageError:
                values.append(None)
                wrong.append(position)
        if wrong:
            reject(np.array(wrong))
        return pa.array(values, field.type)

    return build
