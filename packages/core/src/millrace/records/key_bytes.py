"""Bytes of keys: equal exactly where the columns of two keys are equal, however their messages spell them."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace.contracts import MAX_KEY_BYTES
from millrace.errors import SchemaError

_INTEGERS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
_encode = msgspec.msgpack.Encoder(decimal_format="string", order="deterministic").encode


def check_key_types(schema: pa.Schema) -> None:
    """Refuse columns that cannot be compared.

    Raises:
        SchemaError: A column is a map.
    """
    for field in schema:
        if "map<" in str(field.type):
            raise SchemaError(f"column {field.name!r} is part of the primary key and must not be or have a MAP")


def key_bytes(keys: pa.RecordBatch) -> list[bytes]:
    """Return the bytes of each key, 1 to `MAX_KEY_BYTES` of them.

    Args:
        keys: The columns of the keys, without NULL; nested ones may have it inside.
    """
    if keys.num_columns == 1:
        column = keys.column(0)
        if pt.is_integer(column.type):
            return _integers(column)
        if pt.is_string(column.type):
            return _shortened(_texts(column))
    columns = [_comparable(column) for column in keys.columns]
    return _shortened([_encode(row) for row in zip(*columns, strict=True)])


def _integers(column: pa.Array) -> list[bytes]:
    # In an order that keeps neighbours together, as most keys come
    numbers = column.to_numpy().astype(">i8").tobytes()
    return [numbers[at : at + 8] for at in range(0, len(numbers), 8)]


def _texts(column: pa.Array) -> list[bytes]:
    texts: list[bytes] = column.cast(pa.binary()).to_numpy(zero_copy_only=False).tolist()
    # No key is empty
    if pc.any(pc.starts_with(column, "\0")).as_py() or b"" in texts:
        return [b"\0" + text if not text or text[0] == 0 else text for text in texts]
    return texts


def _shortened(keys: list[bytes]) -> list[bytes]:
    if max(map(len, keys), default=0) < MAX_KEY_BYTES:
        return keys
    # Longer than any other key, so that it is equal to none
    return [
        key if len(key) < MAX_KEY_BYTES else key[: MAX_KEY_BYTES - 32] + hashlib.sha256(key).digest() for key in keys
    ]


def _comparable(column: pa.Array) -> list[Any]:
    """Return values that have the same text exactly when they are equal."""
    type_ = column.type
    if pt.is_floating(type_):
        # There are two zeros, and many that are not a number
        return [repr(value + 0.0) for value in column.to_pylist()]
    if pt.is_temporal(type_):
        return column.cast(_INTEGERS[type_.bit_width], safe=False).to_pylist()
    return column.to_pylist()
