"""The rows of changes, before and after them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from millrace_cdc.rows.arrow_rows import JsonColumns, RowError


def read_images(
    changes: pa.Table, image: str, operations: Sequence[str], columns: JsonColumns
) -> tuple[pa.Array, pa.Table]:
    """Read the rows of an image, where changes have it; return the numbers of the changes, and the rows.

    Args:
        changes: Changes with the columns of `ChangeBatch.map`.
        image: ``before`` or ``after``.
        operations: The operations of the changes to read.
        columns: The columns of rows.

    Raises:
        RowError: A row does not fit; its index is that of its change.
    """
    wanted = pc.and_(
        pc.is_in(changes.column("operation"), value_set=pa.array(operations)), pc.is_valid(changes.column(image))
    )
    numbers = pc.indices_nonzero(wanted).cast(pa.int64())
    texts = changes.column(image).take(numbers).to_pylist()
    try:
        return numbers, columns.read(texts)
    except RowError as error:
        raise RowError(numbers[error.index].as_py(), error.reason) from None
