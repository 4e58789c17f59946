"""Reduce changes of rows to the records of an upsert table: new rows, and tombstones of deleted ones.

As in the reference's upsert-kafka, the old row of an update is not written, and between two flushes only the latest
change of each key is.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.records.row_kinds import UPDATE_BEFORE

_COMPACTION_ROWS = 20_000
"""Rows: a buffer that holds more than these, and more than twice as many as it has keys, drops those replaced."""


class KeyedChanges(NamedTuple):
    """Changes of rows, in order.

    Attributes:
        rows: The rows, with their kinds.
        keys: The key of each, as bytes.
    """

    rows: pa.RecordBatch
    keys: Sequence[bytes]

    def select(self, indices: Sequence[int]) -> KeyedChanges:
        """Return the changes at these indices."""
        return KeyedChanges(self.rows.take(pa.array(indices, pa.int64())), [self.keys[index] for index in indices])


class SelectedChanges(NamedTuple):
    """Some of the buffered changes.

    Attributes:
        positions: The positions of their rows.
        keys: The key of each.
    """

    positions: list[int]
    keys: list[bytes]

    def extend(self, other: SelectedChanges) -> None:
        """Add others behind them."""
        self.positions.extend(other.positions)
        self.keys.extend(other.keys)


class ChangeReducer(ABC):
    """Leave out changes of one task that need not be written."""

    @abstractmethod
    def add(self, changes: KeyedChanges) -> Iterator[KeyedChanges]:
        """Take changes, and yield those to write now."""

    @abstractmethod
    def finish(self) -> Iterator[KeyedChanges]:
        """Yield what is left to write when the task has no more rows."""


class OldRowFilter(ChangeReducer):
    """Leave out the old rows of updates (``-U``), which their new rows replace.

    An old row that no later change of its key follows has left the table, as a row does that a filter passed before its
    update and not after. It stays until the end of the task, and is a delete then.

    Args:
        row_kind_column: The column of row kinds.
    """

    def __init__(self, row_kind_column: str) -> None:
        self._column = row_kind_column
        self._unfollowed: dict[bytes, tuple[KeyedChanges, int]] = {}

    def add(self, changes: KeyedChanges) -> Iterator[KeyedChanges]:
        """Yield the changes other than old rows: see `ChangeReducer.add`."""
        is_old = pc.equal(changes.rows.column(self._column), UPDATE_BEFORE)
        has_old = pc.any(is_old).as_py()
        if not has_old and not self._unfollowed:
            yield changes
            return
        last = dict(zip(changes.keys, range(len(changes.keys)), strict=True))
        for key in last.keys() & self._unfollowed.keys():
            del self._unfollowed[key]
        if not has_old:
            yield changes
            return
        mask = is_old.to_numpy(zero_copy_only=False)
        self._keep_unfollowed(changes, [i for i in np.flatnonzero(mask).tolist() if last[changes.keys[i]] == i])
        yield KeyedChanges(changes.rows.filter(pc.invert(is_old)), list(compress(changes.keys, ~mask)))

    def finish(self) -> Iterator[KeyedChanges]:
        """Yield the old rows that nothing has followed: see `ChangeReducer.finish`."""
        while self._unfollowed:
            first, _ = next(iter(self._unfollowed.values()))
            # Those of one batch are kept together, in order
            indices = [index for changes, index in self._unfollowed.values() if changes is first]
            for index in indices:
                del self._unfollowed[first.keys[index]]
            yield first.select(indices)

    def _keep_unfollowed(self, changes: KeyedChanges, indices: Sequence[int]) -> None:
        if indices:
            unfollowed = changes.select(indices)
            self._unfollowed.update((key, (unfollowed, index)) for index, key in enumerate(unfollowed.keys))


class LatestChangeBuffer(ChangeReducer):
    """Keep the latest change of each key until a flush, and write these in their order.

    Args:
        max_keys: How many keys it holds; one that is full is flushed.
        interval_s: How long after the last flush it is flushed at the next rows, in seconds; None for never.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self, max_keys: int, interval_s: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_keys = max_keys
        self._interval_s = interval_s
        self._clock = clock
        self._last_flush = clock()
        # A position is a row's index in all chunks
        self._chunks: list[pa.RecordBatch] = []
        self._count = 0
        self._latest: dict[bytes, int] = {}

    def add(self, changes: KeyedChanges) -> Iterator[KeyedChanges]:
        """Yield what flushes write: see `ChangeReducer.add`."""
        if self._interval_s is not None and self._clock() - self._last_flush >= self._interval_s:
            yield from self.finish()
        first, count = self._count, len(changes.keys)
        self._chunks.append(changes.rows)
        self._count += count
        # What several flushes write is yielded together, since small batches are built slowly
        flushed = SelectedChanges([], [])
        start = 0
        while start < count:
            # As many rows as cannot make it overfull
            stop = min(start + self._max_keys - len(self._latest), count)
            positions = range(first + start, first + stop)
            self._latest.update(zip(changes.keys[start:stop], positions, strict=True))
            start = stop
            if len(self._latest) == self._max_keys:
                flushed.extend(self._take_latest())
        if flushed.positions:
            yield KeyedChanges(self._rows_at(flushed.positions), flushed.keys)
            self._last_flush = self._clock()
        if flushed.positions or self._count > max(_COMPACTION_ROWS, 2 * len(self._latest)):
            self._compact()

    def finish(self) -> Iterator[KeyedChanges]:
        """Yield the latest changes that are buffered: see `ChangeReducer.finish`."""
        self._last_flush = self._clock()
        latest = self._take_latest()
        if latest.positions:
            yield KeyedChanges(self._rows_at(latest.positions), latest.keys)
            self._compact()

    def _take_latest(self) -> SelectedChanges:
        """Return the latest changes in their order, and forget them."""
        keys = list(self._latest)
        positions = np.fromiter(self._latest.values(), np.int64, len(keys))
        self._latest = {}
        order = np.argsort(positions)
        return SelectedChanges(positions[order].tolist(), [keys[index] for index in order.tolist()])

    def _rows_at(self, positions: Sequence[int]) -> pa.RecordBatch:
        return pa.concat_batches(self._chunks).take(pa.array(positions, pa.int64()))

    def _compact(self) -> None:
        """Drop the rows that are not the latest of their key."""
        positions, keys = self._take_latest()
        self._chunks = [self._rows_at(positions)] if positions else []
        self._count = len(positions)
        self._latest = dict(zip(keys, range(self._count), strict=True))
