"""The order of a micro-batch's changes."""

from __future__ import annotations

import pyarrow as pa

from millrace_cdc.rows.change_order import REACHED, SEQUENCE, ReachedTimes, in_order
from support.table_changes import changes_at


def at(partition, offset, timestamp=0) -> dict:
    return {"partition": partition, "offset": offset, "timestamp": timestamp}


def ordered(*places) -> list[tuple]:
    table = changes_at(*(("c", None, {"id": 1}, place) for place in places))
    table = table.append_column(SEQUENCE, pa.array(range(len(places)), pa.int64()))
    (batch,) = table.to_batches()
    found = in_order(table.append_column(REACHED, ReachedTimes().read(batch)))
    assert REACHED not in found.column_names
    return list(zip(*(found.column(name).to_pylist() for name in ("partition", "offset", SEQUENCE)), strict=True))


def test_changes_of_a_partition_are_ordered_by_offset_and_place_in_their_message():
    assert ordered(at(0, 2), at(0, 1, 9), at(0, 2)) == [(0, 1, 1), (0, 2, 0), (0, 2, 2)]


def test_changes_of_several_partitions_are_ordered_by_the_newest_timestamp_that_each_has_reached():
    # The second of partition 1 is older than the first by its own clock, and comes behind it all the same
    found = ordered(at(1, 0, 5), at(1, 1, 3), at(0, 0, 4), at(0, 1, 6))
    assert [each[:2] for each in found] == [(0, 0), (1, 0), (1, 1), (0, 1)]
