"""Positions in tables that are read by a column that grows.

A position is the greatest value of the column that was read, with the rows that had it: others may get the same value
later, and are not lost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

MOST_ROWS = 1_000
"""The most rows with one value that a position knows one by one."""

_MODULUS = 1 << 64
_encode = msgspec.json.Encoder().encode


def digest(row: Mapping[str, Any]) -> str:
    """Return what distinguishes a row from others."""
    return hashlib.blake2b(_encode(row), digest_size=8).hexdigest()


@dataclass(frozen=True)
class TablePosition:
    """A position in a table.

    Attributes:
        value: The value of the column, as JSON has it; None before all rows.
        rows: What distinguishes the rows that have it; empty where there are many.
        count: The number of those rows.
        total: The sum of what distinguishes them, by which a change among many rows is noticed.
    """

    value: Any = None
    rows: frozenset[str] = frozenset()
    count: int = 0
    total: int = 0

    @classmethod
    def of(cls, value: Any, rows: Iterable[Mapping[str, Any]]) -> TablePosition:
        """Return the position behind all rows that have a value."""
        digests: set[str] = set()
        count = total = 0
        for row in rows:
            row_digest = digest(row)
            count, total = count + 1, (total + int(row_digest, 16)) % _MODULUS
            if count <= MOST_ROWS:
                digests.add(row_digest)
        return cls(value, frozenset(digests) if count <= MOST_ROWS else frozenset(), count, total)

    @property
    def knows_rows(self) -> bool:
        """True if the position lists each row."""
        return self.count <= MOST_ROWS

    def to_json(self) -> list[Any]:
        """Return the position as an offset of Spark has it."""
        return [self.value, sorted(self.rows), self.count, str(self.total)]

    @classmethod
    def from_json(cls, content: list[Any] | None) -> TablePosition:
        """Return the position of `to_json`; the one before all rows for None."""
        if content is None:
            return cls()
        value, rows, count, total = content
        return cls(value, frozenset(rows), count, int(total))
