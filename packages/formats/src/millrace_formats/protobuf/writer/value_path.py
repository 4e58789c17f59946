"""Where values of a batch are, for errors about them and for rows that need care."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import MessageError


@dataclass(frozen=True)
class Place:
    """Which column and which rows the values of an array are of.

    Attributes:
        exact: Is told the rows that protobuf's own library has to write.
        path: The column's path; empty for the rows themselves.
        rows: The rows of the values at some positions; None when value i is in row i.
    """

    exact: Callable[[np.ndarray], None]
    path: str = ""
    rows: Callable[[np.ndarray], np.ndarray] | None = None

    def field(self, name: str) -> Place:
        """A field of structs that are here."""
        return Place(self.exact, f"{self.path}.{name}" if self.path else name, self.rows)

    def inside(self, name: str, offsets: np.ndarray) -> Place:
        """The elements of lists that are here."""
        return Place(
            self.exact,
            f"{self.path}.{name}",
            lambda positions: self._rows(np.searchsorted(offsets, positions, side="right") - 1),
        )

    def needs_exact(self, values: np.ndarray) -> None:
        """Have the rows of the values that are marked written exactly."""
        if values.any():
            self.exact(self._rows(np.flatnonzero(values)))

    def refuse(self, values: pa.BooleanArray, column: pa.Array, reason: str) -> None:
        """Raise a MessageError for the first value that is marked, if there is one; the reason follows the value."""
        position = pc.index(values, True).as_py()
        if position >= 0:
            row = int(self._rows(np.array([position]))[0])
            raise MessageError(f"column {self.path}, row {row}: {_shown(column[position].as_py())} {reason}")

    def _rows(self, positions: np.ndarray) -> np.ndarray:
        return positions if self.rows is None else self.rows(positions)


def _shown(value: object) -> str:
    return "NULL" if value is None else repr(value) if isinstance(value, str) else str(value)
