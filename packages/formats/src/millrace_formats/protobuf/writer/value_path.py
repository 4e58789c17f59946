"""The column and the rows of nested values, for errors and for rows that ptars cannot write exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import MessageError


@dataclass(frozen=True)
class ValuePath:
    """The column and the rows of an array's values.

    Attributes:
        exact: Takes the indices of rows that protobuf's own library has to write.
        path: The column's path; empty for the rows themselves.
        rows: Returns the rows of values; None when value i is in row i.
    """

    exact: Callable[[np.ndarray], None]
    path: str = ""
    rows: Callable[[np.ndarray], np.ndarray] | None = None

    def field(self, name: str) -> ValuePath:
        """Return the path of a field of these structs."""
        return ValuePath(self.exact, f"{self.path}.{name}" if self.path else name, self.rows)

    def elements(self, name: str, offsets: np.ndarray) -> ValuePath:
        """Return the path of the elements of these lists."""
        return ValuePath(
            self.exact,
            f"{self.path}.{name}",
            lambda indices: self._rows(np.searchsorted(offsets, indices, side="right") - 1),
        )

    def needs_exact(self, mask: np.ndarray) -> None:
        """Have the rows of masked values written by protobuf's own library."""
        if mask.any():
            self.exact(self._rows(np.flatnonzero(mask)))

    def refuse(self, mask: pa.BooleanArray, column: pa.Array, reason: str) -> None:
        """Raise a MessageError for the first masked value, if there is one; the reason follows the value."""
        index = pc.index(mask, True).as_py()
        if index >= 0:
            row = int(self._rows(np.array([index]))[0])
            raise MessageError(f"column {self.path}, row {row}: {_shown(column[index].as_py())} {reason}")

    def _rows(self, indices: np.ndarray) -> np.ndarray:
        return indices if self.rows is None else self.rows(indices)


def _shown(value: object) -> str:
    return "NULL" if value is None else repr(value) if isinstance(value, str) else str(value)
