"""A query's checkpoint as Spark restarts from it: logs, sources and where the next micro-batch begins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from millrace.errors import MillraceError
from millrace.offset_log import OffsetLogEntry, RestartPoint, find_restart_point
from millrace_cli.checkpoints.sources import parse_logged_offset, positions_of
from millrace_cli.checkpoints.store import CheckpointStore

OFFSETS, COMMITS, METADATA = "offsets", "commits", "metadata"


@dataclass(frozen=True)
class Checkpoint:
    """The checkpoint of a query that has begun a micro-batch.

    Attributes:
        store: Its files.
        query: The id of the query.
        files: The sizes of all files in bytes, by their paths.
        entries: The offset log, by micro-batch, in order.
        point: Where the query goes on.
    """

    store: CheckpointStore
    query: str
    files: Mapping[str, int]
    entries: Mapping[int, OffsetLogEntry]
    point: RestartPoint

    @property
    def last(self) -> OffsetLogEntry:
        """The newest entry of the offset log."""
        return self.entries[max(self.entries)]

    @property
    def next_batch(self) -> int:
        """The number of the micro-batch that a restart runs first."""
        return (self.point.done or 0) + 1 if self.point.repeated is None else self.point.repeated

    def watermark_ms(self) -> int:
        """Return the watermark with which the next micro-batch begins, in ms since 1970; 0 without one."""
        began_with = self.last.watermark_ms() or 0
        if self.point.repeated is not None or self.point.done is None:
            return began_with
        commit = self.store.read(f"{COMMITS}/{self.point.done}").partition("\n")[2]
        try:
            return max(began_with, int(json.loads(commit)["nextBatchWatermarkMs"]))
        except (KeyError, TypeError, ValueError):
            return began_with

    def repeated_ranges(self) -> list[str]:
        """Return the offsets that a restart reads again, such as ``orders-0 [10, 20)``; none for a new micro-batch."""
        if self.point.repeated is None:
            return []
        before = {} if self.point.done is None else self.entries[self.point.done].sources
        ranges = []
        for source, text in self.last.sources.items():
            offset, began = parse_logged_offset(text), parse_logged_offset(before.get(source, "-"))
            starts = {**positions_of(began), **getattr(offset, "start_overrides", {})}
            for partition, end in sorted(positions_of(offset).items()):
                if starts.get(partition) != end:
                    ranges.append(f"{partition} [{starts.get(partition, 'its beginning')}, {end})")
        return ranges


def read_checkpoint(location: str) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        MillraceError: The folder cannot be read, or is none of a query that has begun a micro-batch.
    """
    store = CheckpointStore(location)
    files = store.list_files()
    if METADATA not in files:
        raise MillraceError(
            f"{location} is not the checkpoint of a streaming query: it has no file 'metadata'. Give the query's "
            f"option checkpointLocation"
        )
    batches = batches_in(files, OFFSETS)
    point = find_restart_point(map(str, batches), map(str, batches_in(files, COMMITS)))
    if point is None:
        raise MillraceError(f"the query of the checkpoint {location} has begun no micro-batch, so there is no progress")
    entries = {batch: OffsetLogEntry.parse(store.read(f"{OFFSETS}/{batch}")) for batch in batches}
    return Checkpoint(store, _query_id(store), files, entries, point)


def batches_in(paths: Iterable[str], log: str) -> list[int]:
    """Return the micro-batches that a log has files of, in order."""
    names = (path.removeprefix(f"{log}/") for path in paths if path.startswith(f"{log}/"))
    return sorted(int(name) for name in names if name.isdecimal())


def _query_id(store: CheckpointStore) -> str:
    try:
        return str(json.loads(store.read(METADATA))["id"])
    except (KeyError, TypeError, ValueError) as error:
        raise MillraceError(f"the file 'metadata' of the checkpoint {store.location} names no query") from error
