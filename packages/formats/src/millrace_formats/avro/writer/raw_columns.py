"""Convert the columns of a batch to raw values, from which messages are written without another look at the columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import MessageError
from millrace_formats.avro.schema.model import AvroEnum, Fixed, Primitive
from millrace_formats.avro.schema.pyruhvro_schema import pyruhvro_type
from millrace_formats.avro.writer.raw_values import Refuse, refuse_nulls, refuse_parent
from millrace_formats.avro.writer.write_plan import (
    WriteList,
    WriteMap,
    WriteNull,
    WritePlan,
    WriteRecord,
    WriteScalar,
    WriteUnion,
)

Adapt = Callable[[Primitive | Fixed | AvroEnum, pa.Array], pa.Array]
"""Adapt the raw values of a type to a writer."""


class RawColumns:
    """Convert batches to raw values; a record becomes a struct whose field ``f<i>`` is the i-th field of the schema.

    Args:
        plan: How rows are written.
        adapt: Adapts raw values without parts.
    """

    def __init__(self, plan: WriteRecord, adapt: Adapt = lambda _, values: values) -> None:
        self._plan = plan
        self._adapt = adapt

    def convert(self, rows: pa.RecordBatch) -> list[pa.Array]:
        """Return the raw values of a batch, one array for each field of the schema.

        Raises:
            MessageError: A value cannot be written; names the column and the row.
        """
        names = rows.schema.names
        return [
            _nulls(part, rows.num_rows)
            if isinstance(part, WriteNull)
            else self._convert_nullable(part, rows.column(column), None, _refuse_row(names[column]))
            for part, column in self._plan.parts
        ]

    def _convert_nullable(
        self, plan: WritePlan, values: pa.Array, valid: pa.BooleanArray | None, refuse: Refuse
    ) -> pa.Array:
        if isinstance(plan, WriteUnion):
            if plan.null is None:
                refuse_nulls(values, valid, refuse)
            return self._convert(plan.value, values, refuse)
        refuse_nulls(values, valid, refuse)
        return self._convert(plan, values, refuse)

    def _convert(self, plan: WritePlan, values: pa.Array, refuse: Refuse) -> pa.Array:
        if isinstance(plan, WriteScalar):
            return self._adapt(plan.writer, plan.to_raw(values, refuse))
        if isinstance(plan, WriteRecord):
            return self._convert_struct(plan, values, refuse)
        if isinstance(plan, WriteList):
            return self._convert_list(plan, values, refuse)
        if isinstance(plan, WriteMap):
            return self._convert_map(plan, values, refuse)
        raise AssertionError("Avro has no unions in unions")

    def _convert_struct(self, plan: WriteRecord, values: pa.StructArray, refuse: Refuse) -> pa.StructArray:
        # Values under a null struct are undefined; flatten makes them null
        columns = values.flatten()
        valid = values.is_valid() if values.null_count else None
        names = [values.type.field(i).name for i in range(values.type.num_fields)]
        fields = [
            _nulls(part, len(values))
            if isinstance(part, WriteNull)
            else self._convert_nullable(part, columns[column], valid, _refuse_field(refuse, names[column]))
            for part, column in plan.parts
        ]
        mask = None if valid is None else pc.invert(valid)
        return pa.StructArray.from_arrays(fields, names=field_names(len(fields)), mask=mask)

    def _convert_list(self, plan: WriteList, values: pa.ListArray, refuse: Refuse) -> pa.ListArray:
        offsets = np.zeros(len(values) + 1, np.int32)
        np.cumsum(pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False), out=offsets[1:])
        items = self._convert_nullable(plan.item, values.flatten(), None, refuse_parent(refuse, offsets))
        return pa.ListArray.from_arrays(pa.array(offsets), items, mask=_null_mask(values))

    def _convert_map(self, plan: WriteMap, values: pa.MapArray, refuse: Refuse) -> pa.MapArray:
        values = values if values.offset == 0 else pa.concat_arrays([values.slice(0, 0), values])
        reject_entry = refuse_parent(refuse, values.offsets.to_numpy())
        items = self._convert_nullable(plan.value, values.items, None, reject_entry)
        type_ = pa.map_(pa.string(), items.type)
        return pa.MapArray.from_arrays(values.offsets, values.keys, items, type=type_, mask=_null_mask(values))


def field_names(count: int) -> list[str]:
    """Return the names of the raw fields of a record."""
    return [f"f{index}" for index in range(count)]


def _nulls(plan: WriteNull, count: int) -> pa.Array:
    return pa.nulls(count, pyruhvro_type(plan.writer))


def _refuse_row(column: str) -> Refuse:
    def refuse(position: int, reason: str) -> NoReturn:
        raise MessageError(f"column {column}, row {position}: {reason}")

    return refuse


def _refuse_field(refuse: Refuse, name: str) -> Refuse:
    def refuse_field(position: int, reason: str) -> NoReturn:
        refuse(position, f"field {name}: {reason}")

    return refuse_field


def _null_mask(values: pa.Array) -> pa.BooleanArray | None:
    return values.is_null() if values.null_count else None
