"""Numbers and booleans of Avro as columns have them: promoted, never cut off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from millrace.errors import MalformedMessageError
from millrace_formats.avro.conversion import Conversion, Reject, reject_outside
from millrace_formats.shared.sql_types import INTEGER_BITS, sql_name

INT_LOW, INT_HIGH = -(1 << 31), (1 << 31) - 1

_WIDER = {
    "int": ("float", "double"),
    "long": ("float", "double"),
    "float": ("float", "double"),
    "double": ("double",),
}
_FLOATS = {pa.float32(): "float", pa.float64(): "double"}


def number_conversion(kind: str, type_: pa.DataType) -> Conversion | None:
    """From boolean, int, long, float or double to a boolean or a number; None where Avro does not promote so."""
    if type_ == pa.bool_():
        return Conversion(lambda value: value, lambda values, _: values) if kind == "boolean" else None
    if type_ in INTEGER_BITS:
        fits = kind == "int" or (kind == "long" and type_ == pa.int64())
        return whole_numbers(type_) if fits else None
    return _floats(type_) if _FLOATS.get(type_) in _WIDER.get(kind, ()) else None


def whole_numbers(type_: pa.DataType) -> Conversion:
    """Whole numbers that must fit the type."""
    bits, name = INTEGER_BITS[type_], sql_name(type_)
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def one(value: int) -> int:
        if not low <= value <= high:
            raise MalformedMessageError(f"{value} is not a {name}: beyond {bits} bits")
        return value

    def column(values: pa.Int64Array, reject: Reject) -> pa.Array:
        return values if bits == 64 else reject_outside(values, low, high, reject).cast(type_, safe=False)

    return Conversion(one, column)


def _floats(type_: pa.DataType) -> Conversion:
    def one(value: Any) -> float:
        # Through the very types that the column has, so that both round alike
        number = np.int64(value) if isinstance(value, int) else np.float64(value)
        return float(number.astype(type_.to_pandas_dtype()))

    def column(values: pa.Array, _: Reject) -> pa.Array:
        return values.cast(type_, safe=False)

    return Conversion(one, column)
