"""Ranges of offsets to scan for the newest messages; the scan itself is tested on a real broker."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from millrace.sampling.newest import PartitionScan


@given(st.sets(st.integers(0, 3_000)), st.integers(0, 3_000), st.integers(1, 60))
def test_the_newest_are_found_whatever_offsets_lack(visible: set[int], begin: int, count: int) -> None:
    offsets: Any = sorted(offset for offset in visible if offset >= begin)
    end = 3_001
    looked_at: list[range] = []
    scan = PartitionScan(begin, max(begin, end - count), end, count)
    while True:
        looked_at.append(range(scan.start, scan.stop))
        scan.current = [offset for offset in offsets if scan.start <= offset < scan.stop]
        if not scan.widen(count):
            break

    assert scan.newest == deque(offsets[-count:])
    assert all(later.start == earlier.stop for later, earlier in itertools.pairwise(looked_at))
    assert len(looked_at) <= 8
