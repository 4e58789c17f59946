"""Rows as state keeps them, where a message holds more than its row, or several rows."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.types as pt

_INTEGERS = {32: pa.int32(), 64: pa.int64()}
_encode = msgspec.msgpack.Encoder(decimal_format="string").encode
_decode = msgspec.msgpack.Decoder().decode


class RowCodec:
    """Writes rows as bytes, equal ones as equal bytes.

    Args:
        schema: The columns of the rows.
    """

    column = "row"
    """The name of the column that holds rows in files, by which files of another codec are recognized."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._plain = pa.schema([field.with_type(_plain_type(field.type)) for field in schema])
        self._readers = [_value_reader(field.type) for field in self._plain]
        # Bytes of rows with other columns are not equal to any, and are refused
        columns = "\0".join(f"{field.name} {field.type}" for field in schema)
        self._layout = zlib.crc32(columns.encode()).to_bytes(4)

    def to_stored(self, rows: pa.RecordBatch) -> list[bytes]:
        """Return what is kept of rows."""
        columns = [
            (column if column.type == plain.type else column.cast(plain.type)).to_pylist()
            for column, plain in zip(rows.columns, self._plain, strict=True)
        ]
        layout = self._layout
        return [layout + _encode(row) for row in zip(*columns, strict=True)]

    def from_stored(self, stored: Sequence[bytes]) -> pa.RecordBatch:
        """Return the rows that were kept.

        Raises:
            ValueError: They have other columns.
        """
        if not all(encoded.startswith(self._layout) for encoded in stored):
            raise ValueError("their columns are others")
        rows = [_decode(memoryview(encoded)[4:]) for encoded in stored]
        columns = zip(*rows, strict=True) if rows else ((),) * len(self._schema)
        arrays = []
        for values, plain, field, read in zip(columns, self._plain, self._schema, self._readers, strict=True):
            array = pa.array(values if read is None else list(map(read, values)), plain.type)
            arrays.append(array if plain.type == field.type else array.cast(field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _plain_type(type_: pa.DataType) -> pa.DataType:
    """Return the type with numbers in the place of times."""
    if pt.is_temporal(type_):
        return _INTEGERS[type_.bit_width]
    if pt.is_struct(type_):
        return pa.struct([field.with_type(_plain_type(field.type)) for field in type_.fields])
    if pt.is_map(type_):
        return pa.map_(_plain_type(type_.key_type), type_.item_field.with_type(_plain_type(type_.item_type)))
    if pt.is_list(type_):
        return pa.list_(type_.value_field.with_type(_plain_type(type_.value_type)))
    return type_


def _value_reader(type_: pa.DataType) -> Callable[[Any], Any] | None:
    """Return what makes decimals of their texts, and tuples of the pairs of maps; None for a type without either."""
    if pt.is_decimal(type_):
        return _unless_null(Decimal)
    if pt.is_map(type_):
        key, item = _value_reader(type_.key_type) or _same, _value_reader(type_.item_type) or _same
        return _unless_null(lambda pairs: [(key(pair[0]), item(pair[1])) for pair in pairs])
    if pt.is_list(type_):
        value = _value_reader(type_.value_type)
        return None if value is None else _unless_null(lambda values: list(map(value, values)))
    if pt.is_struct(type_):
        readers = {field.name: _value_reader(field.type) for field in type_.fields}
        if any(readers.values()):
            return _unless_null(
                lambda fields: {name: (readers[name] or _same)(value) for name, value in fields.items()}
            )
    return None


def _same(value: Any) -> Any:
    return value


def _unless_null(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)
