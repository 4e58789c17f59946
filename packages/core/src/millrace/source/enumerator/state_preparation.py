"""Prepare the durable state of a table for micro-batches, on the driver."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pyarrow as pa

from millrace.checkpoint import Offsets, StreamOffset
from millrace.contracts import TopicPartition
from millrace.errors import OptionsError
from millrace.options.connector import SourceOptions
from millrace.source.splits import OffsetRange, Split
from millrace.source.state_files import ChangeFile, PartitionFiles, Snapshot, StateFiles, StateId

logger = logging.getLogger("millrace.state")


def check_state_location(options: SourceOptions) -> None:
    """Check that a stream that needs state has a place for it.

    Raises:
        OptionsError: It has none.
        StateError: The place cannot be used.
    """
    if not options.keeps_state:
        return
    if options.state_location is None:
        with_ = "'connector' = 'upsert-kafka'" if options.is_upsert else "'changelog.primary-key'"
        without = ". It is not required for 'changelog.mode' = 'upsert', which has no old rows"
        problem = (
            f"option 'state.checkpoints.dir' is required for a stream with {with_}: a folder for the rows of the "
            f"table, as durable as the checkpoint, such as '<checkpoint location>/state/orders'"
            f"{without if options.is_upsert else ''}"
        )
        raise OptionsError("source", (problem,))
    StateFiles(options.state_location, "")


class StatePreparation:
    """Prepare the state of a query, run by run.

    Args:
        options: The options of the source.
    """

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._state: StateId | None = None
        self._restart_offsets: Offsets = {}

    def prepare(self, start: StreamOffset, end: StreamOffset, splits: Sequence[Split]) -> list[Split]:
        """Return the splits of a micro-batch with the name of the state that they begin with.

        Args:
            start: The offset before the micro-batch.
            end: Its end.
            splits: Its splits.

        Raises:
            StateError: The place of the state cannot be read or written.
        """
        location = self._options.state_location
        if location is None or not self._options.keeps_state:
            return [Split(split.ranges, is_stream=True) for split in splits]
        ranges = [range_ for split in splits for range_ in split.ranges]
        files = StateFiles(location, end.owner)
        if self._state is None:
            self._state = StateId(end.owner, _forget_abandoned(files, ranges))
            self._restart_offsets = end.starting_offsets(start)
        new = {range_.partition: range_.start for range_ in ranges if range_.partition not in start.positions}
        # A partition that is still empty begins with this micro-batch too
        for partition, first in {**new, **end.start_overrides}.items():
            _begin(files, partition, first)
        return [self._with_state(split) for split in splits]

    def commit(self, end: StreamOffset) -> None:
        """Let go of states before an offset that no restart goes back beyond.

        Spark names it when its offset log has a later one: with asynchronous progress tracking the log leaves most
        micro-batches out, and a restart repeats all since the last but one that it has.
        """
        self._restart_offsets = end.positions

    def _with_state(self, split: Split) -> Split:
        # A partition that was discovered since then may be read again from its beginning
        offsets = tuple(self._restart_offsets.get(range_.partition, 0) for range_ in split.ranges)
        return Split(split.ranges, is_stream=True, state=self._state, restart_offsets=offsets)


def _begin(files: StateFiles, partition: TopicPartition, first: int) -> None:
    """Write the state before the first message of a partition, by its offset: no rows."""
    if not files.list_partition(partition).snapshots:
        files.write_snapshot(partition, first, (), pa.schema([]))


def _forget_abandoned(files: StateFiles, ranges: Sequence[OffsetRange]) -> int:
    """Delete what was read after an older checkpoint that was restored; return the generation that now reads on."""
    generation, by_partition = files.list_all()
    is_abandoned = False
    for range_ in ranges:
        abandoned = _abandoned(by_partition.get(range_.partition, PartitionFiles()), range_)
        is_abandoned |= bool(abandoned)
        files.delete(range_.partition, abandoned)
    if is_abandoned:
        # Stores on executors may hold what was deleted
        generation += 1
        files.begin_generation(generation)
        logger.warning("the query continues from an older checkpoint; state of later micro-batches is deleted")
    return generation


def _abandoned(files: PartitionFiles, first: OffsetRange) -> list[ChangeFile | Snapshot]:
    """Return the files of states after the first micro-batch of a run, which may have been read before."""
    changes = [
        change for change in files.changes if change.start >= first.start and change[:2] != (first.start, first.end)
    ]
    return [*changes, *(snapshot for snapshot in files.snapshots if snapshot.version > first.start)]
