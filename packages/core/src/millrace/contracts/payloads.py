"""A column of message payloads, as a list or as an Arrow array."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


class Payloads:
    """The payloads (keys or values) of n messages: bytes, or None for a null payload.

    Kafka clients and most decoders work with lists of bytes, Arrow kernels with binary arrays. A conversion costs about
    as much as fetching the messages, so it happens only when it is needed, and the result is cached.

    Args:
        source: A list of ``bytes | None``, or a ``pa.BinaryArray``.
        size: The total number of bytes, if known.
    """

    __slots__ = ("_array", "_items", "_length", "_size")

    def __init__(self, source: Sequence[bytes | None] | pa.BinaryArray, size: int | None = None) -> None:
        self._length = len(source)
        self._size = size
        self._array: pa.BinaryArray | None = None
        self._items: Sequence[bytes | None] | None = None
        if isinstance(source, pa.Array):
            self._array = source if source.type == pa.binary() else source.cast(pa.binary())
        else:
            self._items = source

    @classmethod
    def nulls(cls, count: int) -> Payloads:
        """Make ``count`` null payloads, such as the keys of records without a key."""
        return cls([None] * count)

    def to_list(self) -> Sequence[bytes | None]:
        """Return the payloads as a list of ``bytes | None``; do not change it."""
        if self._items is None:
            # to_pylist makes a scalar object for each value and is many times slower
            self._items = self.to_array().to_numpy(zero_copy_only=False).tolist()
        return self._items

    def to_array(self) -> pa.BinaryArray:
        """Return the payloads as an Arrow array of type binary."""
        if self._array is None:
            self._array = pa.array(self._items, pa.binary())
        return self._array

    @property
    def size(self) -> int:
        """The total number of bytes."""
        if self._size is None:
            if self._array is not None:
                self._size = self._array.total_values_length
            else:
                self._size = sum(map(len, filter(None, self._items or ())))
        return self._size

    @property
    def null_count(self) -> int:
        """The number of null payloads."""
        if self._array is not None:
            return self._array.null_count
        items = self._items or ()
        # A list without nulls or empty payloads is seen through much faster
        return 0 if all(items) else sum(item is None for item in items)

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"Payloads({len(self)})"
