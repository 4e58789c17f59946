"""What changes are, whichever tool has written them."""

from __future__ import annotations

import functools
from array import array
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pyarrow as pa

from millrace.contracts import ROW_KINDS

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(len(ROW_KINDS))
"""Row kinds as the decoders count them: the places of their names in `ROW_KINDS`."""


@functools.cache
def kind_names() -> pa.StringArray:
    """The names of the row kinds, by their numbers."""
    return pa.array(ROW_KINDS, pa.string())


class Operation(Enum):
    """What a message says was done to a row."""

    INSERT = "an insertion"
    UPDATE = "an update"
    DELETE = "a deletion"
    NOTHING = "no change of rows"


@dataclass
class Changes:
    """The rows of several messages.

    Attributes:
        rows: The rows, structs that msgspec has read, in the messages' order. Of an update the old row, whose fields
            may be unset, stands before the new one.
        kinds: The row kind of each, as a number.
        counts: For each message how many rows it has, int32.
        left: The positions of the messages that are not of the usual form, ascending; they have no rows here.
    """

    rows: list[Any] = field(default_factory=list)
    kinds: bytearray = field(default_factory=bytearray)
    counts: array[int] = field(default_factory=lambda: array("i"))
    left: list[int] = field(default_factory=list)

    def leave(self) -> None:
        """Leave the next message to the exact reader."""
        self.left.append(len(self.counts))
        self.counts.append(0)
