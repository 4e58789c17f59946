"""Cut times to the precision of Spark's type: TIME(p) is the same Arrow type whatever p is."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimeType

_ARROW_DIGITS = {"us": 6, "ns": 9}
_MAX_PRECISION = 6

Truncate = Callable[[pa.Array], pa.Array]
"""Cut the times in a column."""


def batch_truncation(schema: StructType) -> Callable[[pa.RecordBatch], pa.RecordBatch] | None:
    """Return a function that cuts the times in batches; None where no column has less than six digits."""
    columns = {index: cut for index, field in enumerate(schema.fields) if (cut := _truncation(field.dataType))}
    if not columns:
        return None

    def truncate(batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [columns[index](array) if index in columns else array for index, array in enumerate(batch.columns)]
        return pa.RecordBatch.from_arrays(arrays, schema=batch.schema)

    return truncate


def _truncation(type_: DataType) -> Truncate | None:
    if isinstance(type_, TimeType) and type_.precision < _MAX_PRECISION:
        return _time_truncation(type_.precision)
    if isinstance(type_, ArrayType):
        return _list_truncation(_truncation(type_.elementType))
    if isinstance(type_, MapType):
        return _map_truncation(_truncation(type_.keyType), _truncation(type_.valueType))
    if isinstance(type_, StructType):
        return _struct_truncation([_truncation(field.dataType) for field in type_.fields])
    return None


def _time_truncation(precision: int) -> Truncate:
    def truncate(times: pa.Time64Array) -> pa.Time64Array:
        unit = 10 ** (_ARROW_DIGITS[times.type.unit] - precision)
        return pc.multiply(pc.divide(times.view(pa.int64()), unit), unit).view(times.type)

    return truncate


def _list_truncation(element: Truncate | None) -> Truncate | None:
    if element is None:
        return None

    def truncate(lists: pa.ListArray) -> pa.ListArray:
        lists = _without_offset(lists)
        return pa.ListArray.from_arrays(lists.offsets, element(lists.values), type=lists.type, mask=_nulls(lists))

    return truncate


def _map_truncation(key: Truncate | None, value: Truncate | None) -> Truncate | None:
    if key is None and value is None:
        return None

    def truncate(maps: pa.MapArray) -> pa.MapArray:
        maps = _without_offset(maps)
        keys = maps.keys if key is None else key(maps.keys)
        items = maps.items if value is None else value(maps.items)
        return pa.MapArray.from_arrays(maps.offsets, keys, items, type=maps.type, mask=_nulls(maps))

    return truncate


def _struct_truncation(fields: list[Truncate | None]) -> Truncate | None:
    if not any(fields):
        return None

    def truncate(structs: pa.StructArray) -> pa.StructArray:
        structs = _without_offset(structs)
        columns = [structs.field(i) if cut is None else cut(structs.field(i)) for i, cut in enumerate(fields)]
        return pa.StructArray.from_arrays(columns, fields=list(structs.type), mask=_nulls(structs))

    return truncate


def _without_offset(column: pa.Array) -> pa.Array:
    """Copy a sliced column, so that its offsets and children can be used as they are."""
    return column if column.offset == 0 else pa.concat_arrays([column.slice(0, 0), column])


def _nulls(column: pa.Array) -> pa.BooleanArray | None:
    return column.is_null() if column.null_count else None
