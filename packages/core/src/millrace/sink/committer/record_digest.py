"""A digest of the records of a task that does not depend on their order, for the task's ledger.

A repeated micro-batch has the same records in each task, or it was divided in another way: a task that counts rows
alone takes other ones for its own if they are as many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import cast
from zlib import crc32

import numpy as np
import numpy.typing as npt

from millrace.contracts import Payloads
from millrace.records.producer_records import Headers, ProducerRecords

_Hashes = npt.NDArray[np.uint64]

# Odd constants of the finalizer of SplitMix64
_FIRST, _SECOND, _THIRD = (np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_NULL = b"\0millrace\0null"
"""Stands for a key or value that is none."""

# Python's own hash takes a third of the time; Spark gives it the same seed in all workers (PYTHONHASHSEED)
_IS_SEEDED = not sys.flags.hash_randomization
_HASH: Callable[[bytes], int] = hash if _IS_SEEDED else crc32
_NAME = sys.hash_info.algorithm if _IS_SEEDED else "crc32"


class RecordDigest:
    """The sum of a hash of each record: of its topic, key, value, headers and timestamp."""

    def __init__(self) -> None:
        self._sum = 0

    def add(self, records: ProducerRecords) -> None:
        """Add some records."""
        count = len(records)
        hashes = _mixed(_hashes(records.values, count) ^ np.uint64(crc32(records.topic.encode())))
        if records.keys is not None:
            hashes = _mixed(hashes ^ _hashes(records.keys, count))
        if records.timestamps is not None:
            times = records.timestamps.fill_null(-1).to_numpy(zero_copy_only=False)
            hashes = _mixed(hashes ^ times.astype(np.int64).view(np.uint64))
        if records.headers is not None:
            hashes = _mixed(hashes ^ np.fromiter(map(_headers_hash, records.headers), np.uint64, count))
        self._sum = (self._sum + int(hashes.sum(dtype=np.uint64))) % 2**64

    def __str__(self) -> str:
        """Return the name of the hash, and the digest as 16 hexadecimal digits."""
        return f"{_NAME}:{self._sum:016x}"


def is_other(digest: str, before: str) -> bool:
    """Return whether two digests are those of other records; False where another Python took another hash."""
    return digest != before and digest.partition(":")[0] == before.partition(":")[0]


def _hashes(payloads: Payloads, count: int) -> _Hashes:
    # The producer takes the same list
    items = payloads.to_list()
    filled: Iterable[bytes] = (
        (_NULL if item is None else item for item in items) if payloads.null_count else cast(Sequence[bytes], items)
    )
    return np.fromiter(map(_HASH, filled), np.int64, count).view(np.uint64)


def _headers_hash(headers: Headers) -> int:
    checksum = len(headers)
    for name, value in headers:
        checksum = crc32(_NULL if value is None else value, crc32(name.encode(), checksum))
    return checksum


def _mixed(hashes: _Hashes) -> _Hashes:
    """Spread each hash over 64 bits, so that sums of other records differ."""
    hashes = (hashes + _FIRST) * _SECOND
    hashes ^= hashes >> np.uint64(29)
    hashes *= _THIRD
    hashes ^= hashes >> np.uint64(32)
    return hashes
