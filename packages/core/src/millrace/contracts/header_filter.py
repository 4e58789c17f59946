"""Header filters: which records are kept, decided by their headers before anything is decoded."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pyarrow as pa

HEADERS = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
"""The Arrow type of records' headers: in order, repeats included; a record without headers has an empty list."""


class HeaderFilter(ABC):
    """A filter of one expression in one language.

    Args:
        expression: The text of ``scan.header-filter``.

    Raises:
        ValueError: The expression is wrong; the message shows where.
    """

    @abstractmethod
    def __init__(self, expression: str) -> None: ...

    @abstractmethod
    def mask(self, headers: pa.ListArray) -> pa.BooleanArray:
        """For each record whether it is kept; no nulls.

        Args:
            headers: The records' headers, of type `HEADERS`.
        """
