"""The order in which rows have arrived, by which rows of one time are told apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from millrace.contracts import ROW_KIND_COLUMN

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

SEQUENCE = "__sequence"
_ROWS_OF_A_TASK = 1 << 33


def with_sequence(rows: DataFrame) -> DataFrame:
    """Return the rows of a stream with their numbers within their micro-batch, in the column `SEQUENCE`.

    Tasks read the messages of a partition in order, one part after the other. A repeated micro-batch has the same
    numbers. Spark's own function of that kind is not for streams.
    """
    from pyspark.sql.types import LongType, StructField, StructType

    return rows.mapInArrow(_numbered, StructType([*rows.schema, StructField(SEQUENCE, LongType())]))


def _numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None  # noqa: S101 - Spark runs this in tasks
    number = context.partitionId() * _ROWS_OF_A_TASK
    for batch in batches:
        numbers = pa.array(range(number, number + batch.num_rows), pa.int64())
        number += batch.num_rows
        yield pa.RecordBatch.from_arrays([*batch.columns, numbers], names=[*batch.schema.names, SEQUENCE])


def old_rows_first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the old rows of a task before the new ones, which may have their keys."""
    import pyarrow.compute as pc

    waiting = []
    for batch in batches:
        is_old = pc.equal(batch.column(batch.schema.get_field_index(ROW_KIND_COLUMN)), "-D")
        yield batch.filter(is_old)
        waiting.append(batch.filter(pc.invert(is_old)))
    yield from waiting
