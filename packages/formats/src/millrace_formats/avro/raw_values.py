"""From values of columns to the raw values of Avro's types: whole numbers, floats, booleans, bytes and symbols.

Nothing is lost on the way: a value that the schema's type cannot hold is refused.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import NoReturn, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace_formats.avro.derive import timestamp_meaning
from millrace_formats.avro.model import AvroType, Enum, Fixed, Scalar
from millrace_formats.avro.number_values import INT_HIGH, INT_LOW
from millrace_formats.avro.raw_decimals import raw_decimals
from millrace_formats.shared.sql_types import INTEGER_BITS

Raw = Callable[[pa.Array, "Refuse"], pa.Array]
"""Makes the raw values of an array, in which any may be null."""

_SAME = {
    "boolean": (pa.bool_(),),
    "float": (pa.float32(),),
    "double": (pa.float32(), pa.float64()),
    "string": (pa.string(),),
    "bytes": (pa.binary(),),
}
_NANOSECONDS = {"millis": 1_000_000, "micros": 1000, "nanos": 1}
_SHOWN = 80


class Refuse(Protocol):
    """Says that a value cannot be written."""

    def __call__(self, position: int, reason: str) -> NoReturn:
        """Raise MessageError for the value at a position."""


def raw_values(type_: AvroType, of: pa.DataType, legacy: bool) -> Raw | None:
    """How a scalar column becomes raw values.

    Args:
        type_: What Avro has for it.
        of: The column's type.
        legacy: What a timestamp is where the schema has a plain number, see `derive_record`.

    Returns:
        The way; None where Avro's type is for something else.
    """
    if isinstance(type_, Enum):
        return _symbols(type_) if of == pa.string() else None
    if pt.is_decimal128(of):
        return raw_decimals(type_, of)
    if isinstance(type_, Fixed):
        return _fixed(type_, of)
    if not isinstance(type_, Scalar):
        return None
    if pt.is_temporal(of):
        return _times(type_, of, legacy)
    if of in INTEGER_BITS and type_.kind in ("int", "long"):
        return _ints if (type_.kind, of) == ("int", pa.int64()) else lambda values, _: values.cast(pa.int64())
    if of not in _SAME.get(type_.kind, ()):
        return None
    return (lambda values, _: values.cast(pa.float64())) if type_.kind == "double" else (lambda values, _: values)


def refuse_where(wrong: pa.BooleanArray, values: pa.Array, refuse: Refuse, reason: Callable[[object], str]) -> None:
    """Refuse the first value that is wrong, if there is one."""
    index = pc.index(wrong, True).as_py()
    if index >= 0:
        text = str(values[index])
        refuse(index, reason(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."))


def _ints(values: pa.Int64Array, refuse: Refuse) -> pa.Int64Array:
    wrong = pc.or_(pc.less(values, INT_LOW), pc.greater(values, INT_HIGH))
    refuse_where(wrong, values, refuse, lambda value: f"{value} does not fit int, which has 32 bits")
    return values


def _symbols(type_: Enum) -> Raw:
    known = pa.array(type_.symbols, pa.string())

    def raw(values: pa.StringArray, refuse: Refuse) -> pa.StringArray:
        wrong = pc.and_(pc.invert(pc.is_in(values, known)), values.is_valid())
        refuse_where(wrong, values, refuse, lambda value: f"{value!r} is no symbol of enum {type_.name}")
        return values

    return raw


def _fixed(type_: Fixed, of: pa.DataType) -> Raw | None:
    def raw(values: pa.BinaryArray, refuse: Refuse) -> pa.BinaryArray:
        wrong = pc.not_equal(pc.binary_length(values), type_.size)
        refuse_where(wrong, values, refuse, lambda _: f"the value does not have the {type_.size} bytes of {type_.name}")
        return values

    if of == pa.binary():
        return raw
    is_uuid = type_.logical is not None and type_.logical.name == "uuid"
    return _uuids if is_uuid and of == pa.string() else None


def _uuids(values: pa.StringArray, refuse: Refuse) -> pa.BinaryArray:
    found: list[bytes | None] = []
    for position, text in enumerate(values.to_pylist()):
        try:
            found.append(None if text is None else uuid.UUID(text).bytes)
        except ValueError:
            refuse(position, f"{text[:_SHOWN]!r} is no UUID")
    return pa.array(found, pa.binary())


def _times(type_: Scalar, of: pa.DataType, legacy: bool) -> Raw | None:
    meaning = _meaning(type_, of, legacy)
    what, _, unit = meaning.rpartition("-")
    if meaning == "date":
        return (lambda values, _: values.view(pa.int32()).cast(pa.int64())) if pt.is_date32(of) else None
    fits = pt.is_time64(of) if what == "time" else what.endswith("timestamp") and pt.is_timestamp(of)
    if not fits or type_.kind != ("int" if meaning == "time-millis" else "long"):
        return None
    return _scaled(1 if of.unit == "ns" else 1000, _NANOSECONDS[unit], meaning)


def _meaning(type_: Scalar, of: pa.DataType, legacy: bool) -> str:
    if type_.logical:
        return type_.logical.name
    if pt.is_timestamp(of):
        return timestamp_meaning(of, legacy).name
    derived = "date" if pt.is_date32(of) else "time-millis"
    return derived if type_.kind == "int" else ""


def _scaled(have: int, want: int, meaning: str) -> Raw:
    """From units of so many nanoseconds to units of so many, which must hold the values whole."""

    def raw(values: pa.Array, refuse: Refuse) -> pa.Int64Array:
        numbers = values.view(pa.int64())
        if have == want:
            return numbers
        if have > want:
            ratio = have // want
            most = (2**63 - 1) // ratio
            wrong = pc.or_(pc.greater(numbers, most), pc.less(numbers, -most))
            refuse_where(wrong, values, refuse, lambda value: f"{value} does not fit {meaning}, which has 64 bits")
            return pc.multiply(numbers, ratio)
        whole = pc.divide(numbers, want // have)
        wrong = pc.not_equal(pc.multiply(whole, want // have), numbers)
        refuse_where(wrong, values, refuse, lambda value: f"{value} has microseconds, which {meaning} has not")
        return whole

    return raw


def no_nulls(values: pa.Array, valid: pa.BooleanArray | None, refuse: Refuse) -> None:
    """Refuse a null where there may be none.

    Args:
        values: The values.
        valid: Where the struct is that holds them; None for everywhere.
        refuse: Refuses the first.
    """
    if not values.null_count:
        return
    wrong = values.is_null() if valid is None else pc.and_(values.is_null(), valid)
    index = pc.index(wrong, True).as_py()
    if index >= 0:
        refuse(index, "NULL in a NOT NULL column")


def outer(refuse: Refuse, offsets: np.ndarray) -> Refuse:
    """Refuses a list's item by refusing the list."""

    def refuse_list(position: int, reason: str) -> NoReturn:
        refuse(int(np.searchsorted(offsets, position, side="right")) - 1, reason)

    return refuse_list
