"""Convert columns of text, rejecting values that the exact reader reads otherwise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace.errors import MalformedMessageError
from millrace_formats.csv.exact_reader import field_conversion
from millrace_formats.csv.options import CsvOptions
from millrace_formats.shared.column_casts import Reject, reject_where
from millrace_formats.shared.number_columns import parse_booleans, parse_decimals, parse_floats, parse_integers
from millrace_formats.shared.time_columns import parse_dates, parse_timestamps

TextColumn = Callable[[pa.StringArray, Reject], pa.Array]
"""Convert texts to a column; takes the function that gets the indices of values for the exact reader."""


def text_column(field: pa.Field, options: CsvOptions) -> TextColumn:
    """Return the conversion of a column of texts."""
    convert = _vectorized(field.type)
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


def _vectorized(type_: pa.DataType) -> TextColumn | None:
    if pt.is_integer(type_):
        return lambda texts, reject: parse_integers(texts, type_, reject)
    if pt.is_floating(type_):
        return lambda texts, reject: parse_floats(texts, type_, reject)
    if pt.is_decimal128(type_):
        return lambda texts, reject: parse_decimals(texts, type_, reject)
    if pt.is_timestamp(type_):
        return lambda texts, reject: parse_timestamps(texts, type_, False, reject)
    return _VECTORIZED.get(type_)


_VECTORIZED: dict[pa.DataType, TextColumn] = {
    pa.string(): lambda texts, _: texts,
    pa.bool_(): lambda texts, _: parse_booleans(texts),
    pa.date32(): parse_dates,
}


def _one_by_one(field: pa.Field, options: CsvOptions) -> TextColumn:
    convert = field_conversion(field, options)

    def build(texts: pa.StringArray, reject: Reject) -> pa.Array:
        values, malformed = [], []
        for index, text in enumerate(texts.to_pylist()):
            try:
                values.append(convert(text))
            except MalformedMessageError:
                values.append(None)
                malformed.append(index)
        if malformed:
            reject(np.array(malformed))
        return pa.array(values, field.type)

    return build
