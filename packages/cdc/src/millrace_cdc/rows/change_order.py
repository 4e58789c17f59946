"""The order of a micro-batch's changes, by which all sinks tell the last change of a key.

Within a partition of a topic, a later offset is later. Between partitions, the newest timestamp that each has reached
by then counts, and of equal ones the topic's name and the partition's number. So a message that is older than the one
before it in its partition comes behind that one, everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

SEQUENCE = "sequence"
"""Name of the column with the number of a change in its task: a message may have several."""

REACHED = "reached"
"""Name of the column with what `ReachedTimes` returns."""

_ORDER = [(name, "ascending") for name in ("topic", "partition", "offset", SEQUENCE)]


class ReachedTimes:
    """The newest timestamps that partitions have reached; for all changes of a task, which has whole partitions."""

    def __init__(self) -> None:
        self._newest: dict[tuple[str | None, int | None], int] = {}

    def read(self, batch: pa.RecordBatch) -> pa.Int64Array:
        """Return, for each of the next changes, the newest timestamp of its partition by then, in microseconds.

        Args:
            batch: Changes with the columns of `CHANGE_BATCH_COLUMNS`, those of a partition by offset.
        """
        # Not every source has messages with places and timestamps
        times = batch.column("timestamp").cast(pa.int64()).fill_null(0)
        topics, partitions = (batch.column(name) for name in ("topic", "partition"))
        places = [column.unique().to_pylist() for column in (topics, partitions)]
        if any(len(unique) > 1 for unique in places):
            return self._read_several(times, topics, partitions)
        if not len(times):
            return times
        ((topic,), (partition,)) = places
        start = self._newest.get((topic, partition))
        reached = pc.cumulative_max(times, start=start)
        self._newest[topic, partition] = reached[-1].as_py()
        return reached

    def _read_several(self, times: pa.Int64Array, topics: pa.Array, partitions: pa.Array) -> pa.Int64Array:
        newest, reached = self._newest, []
        places = zip(topics.to_pylist(), partitions.to_pylist(), strict=True)
        for place, time in zip(places, times.to_pylist(), strict=True):
            latest = newest.get(place, time)
            newest[place] = latest = max(latest, time)
            reached.append(latest)
        return pa.array(reached, pa.int64())


def count_rows(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the values of columns in ascending order, with the number of rows of each in ``count_all``.

    Arrow promises no order of groups: some come before others whose rows came first.
    """
    counts = rows.group_by(list(names), use_threads=False).aggregate([([], "count_all")])
    return counts.sort_by([(name, "ascending") for name in names])


def in_order(changes: pa.Table) -> pa.Table:
    """Sort changes that have the columns `REACHED` and `SEQUENCE`; the former is left out then."""
    changes = changes.sort_by(_ORDER)
    partitions = count_rows(changes, ["topic", "partition"])
    if partitions.num_rows <= 1:
        return changes.drop_columns([REACHED])
    reached, newest, start = changes.column(REACHED), [], 0
    # The changes of several tasks may have several of one partition
    for count in partitions.column("count_all").to_pylist():
        newest += pc.cumulative_max(reached.slice(start, count)).chunks
        start += count
    place = changes.column_names.index(REACHED)
    changes = changes.set_column(place, REACHED, pa.chunked_array(newest, pa.int64()))
    return changes.sort_by([(REACHED, "ascending"), *_ORDER]).drop_columns([REACHED])
