"""Batches of raw values, from which messages are written without another look at the columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import MessageError
from millrace_formats.avro.model import Enum, Fixed, Scalar
from millrace_formats.avro.put import Put, PutChoice, PutItems, PutNull, PutPairs, PutRow, PutValue
from millrace_formats.avro.raw_values import Refuse, no_nulls, outer

Leaf = Scalar | Fixed | Enum
Adapt = Callable[[Leaf, pa.Array], pa.Array]
"""Makes raw values what a writer wants of them."""


class RawRows:
    """Makes raw values of columns: a struct for each record, with a field ``f<i>`` for the i-th field of the schema.

    Args:
        put: How rows are written.
        adapt: Is applied to the values that hold no others.
    """

    def __init__(self, put: PutRow, adapt: Adapt = lambda _, values: values) -> None:
        self._put = put
        self._adapt = adapt

    def columns(self, columns: list[pa.Array], names: list[str], count: int) -> list[pa.Array]:
        """The raw values of a batch, by the fields of the schema.

        Args:
            columns: The batch's columns.
            names: Their names.
            count: How many rows there are.

        Raises:
            MessageError: A value cannot be written; names the column and the row.
        """
        return [
            part.raw(count)
            if isinstance(part, PutNull)
            else self._part(part, columns[index], None, _refuser(names[index]))
            for part, index in self._put.parts
        ]

    def _part(self, put: Put, values: pa.Array, valid: pa.BooleanArray | None, refuse: Refuse) -> pa.Array:
        if isinstance(put, PutChoice):
            if put.null is None:
                no_nulls(values, valid, refuse)
            return self._values(put.put, values, refuse)
        no_nulls(values, valid, refuse)
        return self._values(put, values, refuse)

    def _values(self, put: Put, values: pa.Array, refuse: Refuse) -> pa.Array:
        if isinstance(put, PutValue):
            return self._adapt(put.writer, put.raw(values, refuse))
        if isinstance(put, PutRow):
            return self._struct(put, values, refuse)
        if isinstance(put, PutItems):
            return self._list(put, values, refuse)
        if isinstance(put, PutPairs):
            return self._map(put, values, refuse)
        raise AssertionError("a union in a union")

    def _struct(self, put: PutRow, values: pa.StructArray, refuse: Refuse) -> pa.StructArray:
        # flatten takes along the nulls of the struct, under which anything may be
        inner = values.flatten()
        valid = values.is_valid() if values.null_count else None
        names = [values.type.field(i).name for i in range(values.type.num_fields)]
        made = [
            part.raw(len(values))
            if isinstance(part, PutNull)
            else self._part(part, inner[index], valid, _within(refuse, names[index]))
            for part, index in put.parts
        ]
        mask = None if valid is None else pc.invert(valid)
        return pa.StructArray.from_arrays(made, names=[f"f{i}" for i in range(len(made))], mask=mask)

    def _list(self, put: PutItems, values: pa.ListArray, refuse: Refuse) -> pa.ListArray:
        offsets = np.zeros(len(values) + 1, np.int32)
        np.cumsum(pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False), out=offsets[1:])
        inner = self._part(put.item, values.flatten(), None, outer(refuse, offsets))
        return pa.ListArray.from_arrays(pa.array(offsets), inner, mask=_nulls(values))

    def _map(self, put: PutPairs, values: pa.MapArray, refuse: Refuse) -> pa.MapArray:
        values = values if values.offset == 0 else pa.concat_arrays([values.slice(0, 0), values])
        inner = self._part(put.value, values.items, None, outer(refuse, values.offsets.to_numpy()))
        kind = pa.map_(pa.string(), inner.type)
        return pa.MapArray.from_arrays(values.offsets, values.keys, inner, type=kind, mask=_nulls(values))


def _refuser(column: str) -> Refuse:
    def refuse(position: int, reason: str) -> NoReturn:
        raise MessageError(f"column {column}, row {position}: {reason}")

    return refuse


def _within(refuse: Refuse, name: str) -> Refuse:
    def refuse_field(position: int, reason: str) -> NoReturn:
        refuse(position, f"field {name}: {reason}")

    return refuse_field


def _nulls(values: pa.Array) -> pa.BooleanArray | None:
    return values.is_null() if values.null_count else None
