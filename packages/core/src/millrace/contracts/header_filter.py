"""Header filters: which records are kept, decided by their headers before anything is decoded."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pyarrow as pa

HEADERS = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
"""The Arrow type of records' headers: in order, repeats included; a record without headers has an empty list."""


def is_headers(kind: pa.DataType) -> bool:
    """Whether a type is `HEADERS`, whatever may be null in it."""
    if not (pa.types.is_list(kind) and pa.types.is_struct(kind.value_type)):
        return False
    return [(field.name, field.type) for field in kind.value_type] == [("key", pa.string()), ("value", pa.binary())]


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
