"""Columns from columns of text, where that gives exactly what the exact reader gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace_formats.csv.exact_reader import field_conversion
from millrace_formats.csv.options import CsvOptions
from millrace_formats.shared.column_casts import Reject, reject_where
from millrace_formats.shared.malformed_message import MalformedMessageError
from millrace_formats.shared.number_columns import parse_booleans, parse_decimals, parse_floats, parse_integers
from millrace_formats.shared.time_columns import parse_dates, parse_timestamps

TextColumn = Callable[[pa.StringArray, Reject], pa.Array]
"""Makes a column from texts; is told whom to report positions to that the exact reader has to read."""


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
                reject_where(texts.is_null(), reject)
        return convert(texts, reject)

    return build


def _vectorised(type_: pa.DataType) -> TextColumn | None:
    if pt.is_integer(type_):
        return lambda texts, reject: parse_integers(texts, type_, reject)
    if pt.is_floating(type_):
        return lambda texts, reject: parse_floats(texts, type_, reject)
    if pt.is_decimal128(type_):
        return lambda texts, reject: parse_decimals(texts, type_, reject)
    if pt.is_timestamp(type_):
        return lambda texts, reject: parse_timestamps(texts, type_, False, reject)
    return _VECTORISED.get(type_)


_VECTORISED: dict[pa.DataType, TextColumn] = {
    pa.string(): lambda texts, _: texts,
    pa.bool_(): lambda texts, _: parse_booleans(texts),
    pa.date32(): parse_dates,
}


def _one_by_one(field: pa.Field, options: CsvOptions) -> TextColumn:
    convert = field_conversion(field, options)

    def build(texts: pa.StringArray, reject: Reject) -> pa.Array:
        values, wrong = [], []
        for position, text in enumerate(texts.to_pylist()):
            try:
                values.append(convert(text))
            except MalformedMessageError:
                values.append(None)
                wrong.append(position)
        if wrong:
            reject(np.array(wrong))
        return pa.array(values, field.type)

    return build
