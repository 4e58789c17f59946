"""Compiled readers of rows in JSON: msgspec classes with a field for each column, which skip all other columns.

msgspec has no classes with some names of columns; rows with these are read as objects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from millrace_catalog.types import ArrayType, DataType, MapType, RowType, Schema
from millrace_cdc.rows import exact_json

Raw = msgspec.Raw
NULL = Raw(b"null")
_encode = msgspec.json.Encoder().encode
_FLOATS = {"FLOAT", "DOUBLE"}
_SCALAR_VALUE = str | int | bool | None


def row_class(fields: Sequence[tuple[Any, ...]], *, forbids_others: bool = False) -> type[msgspec.Struct] | None:
    """Make a class of rows, with the attributes ``f0``, ``f1`` and so on; None for names that msgspec has no class for.

    Args:
        fields: For each column its name, the type to read it as, and its value in rows without it; no such value
            where all rows have it.
        forbids_others: Whether rows must have no other columns.
    """
    definitions: list[Any] = [(f"f{index}", *rest) for index, (_, *rest) in enumerate(fields)]
    names = {f"f{index}": name for index, (name, *_) in enumerate(fields)}
    try:
        return msgspec.defstruct(
            "Row", definitions, rename=names, gc=False, kw_only=True, forbid_unknown_fields=forbids_others
        )
    except ValueError:
        return None  # A name with quotes or control characters


def raw_reader(names: Sequence[str]) -> Callable[[bytes | str], tuple[Raw, ...]]:
    """Return a function from a row to the values of some columns, as JSON; null for those that it lacks."""
    row = row_class([(name, Raw, NULL) for name in names])
    if row is None:
        return _reader_of_objects(names, msgspec.json.Decoder(dict[str, Raw]).decode, NULL)
    decode, values = msgspec.json.Decoder(row).decode, msgspec.structs.astuple
    return lambda text: values(decode(text))


def object_reader(names: Sequence[str]) -> Callable[[bytes], bytes]:
    """Return a function from a row to an object of some of its columns, in order; null for those that it lacks."""
    row = row_class([(name, Raw, NULL) for name in names])
    if row is None:
        values_of = raw_reader(names)
        return lambda text: _encode(dict(zip(names, values_of(text), strict=True)))
    decode = msgspec.json.Decoder(row).decode
    return lambda text: _encode(decode(text))


def row_rewriter(names: Sequence[str], converts: Mapping[str, Callable[[Any], Any]]) -> Callable[[bytes], bytes]:
    """Return a function from a row to the same row with other values of some columns; null stays.

    Args:
        names: The columns of rows.
        converts: Conversions of values, by name of the column; the values of other columns are not read.
    """
    row = row_class([(name, Any, None) if name in converts else (name, Raw, NULL) for name in names])
    if row is None:
        return _rewriter_of_objects(names, converts)
    decode = msgspec.json.Decoder(row, float_hook=Decimal).decode
    changed = [(f"f{index}", converts[name]) for index, name in enumerate(names) if name in converts]

    def rewrite(text: bytes) -> bytes:
        values = decode(text)
        for field, convert in changed:
            value = getattr(values, field)
            if value is not None:
                setattr(values, field, convert(value))
        return exact_json.encode(values)

    return rewrite


def _rewriter_of_objects(
    names: Sequence[str], converts: Mapping[str, Callable[[Any], Any]]
) -> Callable[[bytes], bytes]:
    values_of = raw_reader(names)

    def rewrite(text: bytes) -> bytes:
        values: dict[str, Any] = dict(zip(names, values_of(text), strict=True))
        for name, convert in converts.items():
            value = exact_json.decode(values[name])
            values[name] = None if value is None else convert(value)
        return exact_json.encode(values)

    return rewrite


@functools.lru_cache(maxsize=4096)
def value_reader(columns: Schema) -> Callable[[bytes], tuple[Any, ...]]:
    """Return a function from a row to the values of its columns; None for those that it lacks.

    A number with a fraction is a float in a column of FLOAT or DOUBLE, and elsewhere a Decimal.
    """
    exact = _reader_of_objects(columns.names, msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode, None)
    row = row_class([(column.name, _read_type(column.type), None) for column in columns])
    if row is None:
        return exact
    decode, values = msgspec.json.Decoder(row, float_hook=Decimal).decode, msgspec.structs.astuple

    def read(text: bytes) -> tuple[Any, ...]:
        try:
            return values(decode(text))
        except msgspec.MsgspecError:
            return exact(text)  # A number beyond what a float holds

    return read


def _reader_of_objects(
    names: Sequence[str], decode: Callable[[Any], dict[str, Any]], absent: Any
) -> Callable[[Any], tuple[Any, ...]]:
    def read(text: Any) -> tuple[Any, ...]:
        get = decode(text).get
        return tuple(get(name, absent) for name in names)

    return read


def _read_type(type_: DataType) -> Any:
    """Return the type to read a value as: any, but with floats where the column has them."""
    if isinstance(type_, ArrayType):
        element = _read_type(type_.element)
        return Any if element is Any else _SCALAR_VALUE | dict | list[element]  # type: ignore[valid-type] # exists at run time only
    if isinstance(type_, MapType):
        inner = _read_type(type_.value)
        return Any if inner is Any else _SCALAR_VALUE | list | dict[str, inner]  # type: ignore[valid-type] # exists at run time only
    if isinstance(type_, RowType) or type_.kind not in _FLOATS:
        return Any
    return _SCALAR_VALUE | float | list | dict
