"""The rows of changes, before and after them, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from millrace_cdc.rows.arrow_rows import JsonColumns, RowError

OPERATIONS = ("c", "u", "d")


class ChangeError(Exception):
    """A change that its table cannot have.

    Args:
        place: The place of its message, as text.
        reason: The reason, and what to do.
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(place, reason)
        self.place = place
        self.reason = reason

    @classmethod
    def at(cls, changes: pa.Table, index: int, reason: str) -> Self:
        """Make the error of one of some changes."""
        topic, partition, offset = (changes.column(name)[index].as_py() for name in ("topic", "partition", "offset"))
        return cls(f"topic {topic!r}, partition {partition}, offset {offset}", reason)

    def __str__(self) -> str:
        return f"message in {self.place} does not fit it: {self.reason}"


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
        ChangeError: A row does not fit.
    """
    wanted = pc.and_(
        pc.is_in(changes.column("operation"), value_set=pa.array(operations)), pc.is_valid(changes.column(image))
    )
    numbers = pc.indices_nonzero(wanted).cast(pa.int64())
    texts = changes.column(image).take(numbers).to_pylist()
    try:
        return numbers, columns.read(texts)
    except RowError as error:
        raise ChangeError.at(changes, numbers[error.index].as_py(), error.reason) from None


def read_rows(changes: pa.Table, image: str, schema: pa.Schema) -> pa.Table:
    """Read the rows of an image of all changes that have it: see `read_images`."""
    return read_images(changes, image, OPERATIONS, JsonColumns(schema))[1] if changes.num_rows else schema.empty_table()
