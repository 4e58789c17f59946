"""The columns of primary keys, as which keys are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import StructType

from millrace.pyspark_internals import to_arrow_schema

if TYPE_CHECKING:
    from millrace.contracts import PipelineTable


def key_schema(table: PipelineTable) -> pa.Schema:
    """Return the columns of a table's primary key; none where it has no key.

    Values of these types are equal where those of the table are, whatever their texts: 1.5 and 1.50.
    """
    fields = to_arrow_schema(StructType([table.schema[name] for name in table.primary_key]))
    # Arrow groups by no lists, maps and rows: their JSON stands for them
    return pa.schema(
        [pa.field(field.name, pa.string() if pa.types.is_nested(field.type) else field.type) for field in fields]
    )


def comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a column of a key, such that equal ones are the same for Arrow."""
    # -0.0 equals 0.0
    return pc.add(column, pa.scalar(0, column.type)) if pa.types.is_floating(column.type) else column
