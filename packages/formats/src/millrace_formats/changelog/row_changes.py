"""Row kinds and rows of changes, independent of the tool that wrote them."""

from __future__ import annotations

import functools
from array import array
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from millrace.contracts import ROW_KINDS

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(len(ROW_KINDS))
"""Row kinds as numbers: the indices of their names in `ROW_KINDS`."""


@functools.cache
def kind_names() -> pa.StringArray:
    """Return the names of the row kinds, by their numbers."""
    return pa.array(ROW_KINDS, pa.string())


@dataclass
class RowChanges:
    """The rows of several messages.

    Attributes:
        rows: The rows, structs that msgspec has read, in the messages' order. The old row of an update, whose fields
            may be unset, is before the new one.
        kinds: The row kind of each row, as a number.
        counts: The number of rows of each message, int32.
        incomplete: The indices of messages that lack a row that they need, ascending; they have no rows here.
    """

    rows: list[Any] = field(default_factory=list)
    kinds: bytearray = field(default_factory=bytearray)
    counts: array[int] = field(default_factory=lambda: array("i"))
    incomplete: list[int] = field(default_factory=list)

    def add_incomplete(self) -> None:
        """Leave the next message to the exact reader."""
        self.incomplete.append(len(self.counts))
        self.counts.append(0)
