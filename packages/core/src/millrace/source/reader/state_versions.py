"""Bring the store of a partition to the state at an offset, from the durable files of the stream.

A store of another host, or one that has missed some micro-batches, reads the changes that it lacks. One that is lost,
or is ahead since an older checkpoint was restored, begins with a snapshot.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from millrace.contracts import KeyedStore, StateBackend, StateView, TopicPartition
from millrace.errors import StateError
from millrace.source.reader.change_spool import apply_changes, snapshot_batches, snapshot_schema
from millrace.source.splits import OffsetRange
from millrace.source.state_files import ChangeFile, PartitionFiles, Snapshot, StateFiles, StateId

logger = logging.getLogger("millrace.state")

SNAPSHOT_RATIO = 2
"""A snapshot is written when the changes since the last one have this many times its size."""

MIN_SNAPSHOT_BYTES = 1 << 20
"""Bytes of changes for which no snapshot is written yet."""

MAX_CHANGE_FILES = 500
"""Files of changes after which a snapshot is written, however small they are: reading each takes its time."""


class Restore(NamedTuple):
    """The way to a state.

    Attributes:
        snapshot: The snapshot to begin with; None to go on from what the store holds.
        steps: The files of changes to apply then; a range where there is none, since nobody has read that micro-batch.
    """

    snapshot: Snapshot | None
    steps: tuple[ChangeFile | OffsetRange, ...]

    @property
    def is_whole(self) -> bool:
        """True if no changes are missing."""
        return all(isinstance(step, ChangeFile) for step in self.steps)


def plan_restore(
    partition: TopicPartition, files: PartitionFiles, version: int, store_version: int | None
) -> Restore | None:
    """Return the way to the state at an offset; None if there is none.

    Args:
        partition: The partition.
        files: What is there of it.
        version: The offset.
        store_version: The offset of the state that the store holds; None for none.
    """
    snapshots = [snapshot for snapshot in reversed(files.snapshots) if snapshot.version <= version]
    ways = [Restore(snapshot, _steps(partition, files, snapshot.version, version)) for snapshot in snapshots]
    if store_version is not None and store_version <= version:
        from_store = Restore(None, _steps(partition, files, store_version, version))
        is_newest = not snapshots or snapshots[0].version <= store_version
        # Changes before a snapshot may be deleted: what a store lacks of them is not what nobody has read
        if from_store.is_whole or is_newest:
            return from_store
    return next((way for way in ways if way.is_whole), ways[0] if ways else None)


def _steps(
    partition: TopicPartition, files: PartitionFiles, begin: int, end: int
) -> tuple[ChangeFile | OffsetRange, ...]:
    by_start = {change.start: change for change in files.changes if begin <= change.start and change.end <= end}
    steps, at = list[ChangeFile | OffsetRange](), begin
    while at < end:
        step = by_start.get(at) or OffsetRange(partition, at, min([start for start in by_start if start > at] + [end]))
        steps.append(step)
        at = step.end
    return tuple(steps)


def store_name(location: str, state: StateId, partition: TopicPartition, column: str) -> str:
    """Return the name of a partition's store, which is another one for each stream."""
    parts = (location, *state, *partition, column)
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:40]


class VersionedStore:
    """The store of one partition, and its durable files.

    Args:
        files: The durable files.
        backend: Opens stores.
        state: The name of the stream's state.
        location: Where the durable files are.
        partition: The partition.
        column: The name of the column that holds what is kept of rows (`EventReader.column`).
        retained: The number of micro-batches that must be repeatable.
        restart_offset: The first offset from which a restarted query may read again.
    """

    def __init__(
        self,
        files: StateFiles,
        backend: StateBackend,
        state: StateId,
        location: str,
        partition: TopicPartition,
        column: str,
        retained: int,
        restart_offset: int,
    ) -> None:
        self._files, self._partition, self._column = files, partition, column
        self._retained, self._restart_offset = retained, restart_offset
        self._backend, self._name = backend, store_name(location, state, partition, column)
        self._store: KeyedStore = backend.open(self._name)

    @contextmanager
    def view(
        self, version: int, read_again: Callable[[OffsetRange], None], on_restore: Callable[[], None]
    ) -> Iterator[StateView]:
        """Yield the state at an offset.

        Args:
            version: The offset.
            read_again: Reads the messages of a micro-batch that nobody has read to its end, and writes its changes.
            on_restore: Called if the store is restored from a snapshot.

        Raises:
            StateError: The durable files lack the state, or cannot be read.
            MachineError: The disk has no room.
        """
        while True:
            if self._bring_to(version, read_again):
                on_restore()
            with self._store.view() as view:
                # An attempt of another micro-batch, of a run that has ended, may have moved the store since
                if view.marker == _marker(version):
                    yield view
                    return

    def _bring_to(self, version: int, read_again: Callable[[OffsetRange], None]) -> bool:
        """Bring the store to the state at an offset; return whether it was restored from a snapshot."""
        if self._version == version:
            return False
        began, is_restored = time.monotonic(), False
        listed = PartitionFiles()
        while self._version != version:
            listed = self._files.list_partition(self._partition)
            way = plan_restore(self._partition, listed, version, self._version)
            if way is None:
                raise StateError(
                    f"the state of {self._partition} at offset {version} is not in option 'state.checkpoints.dir': "
                    f"give the folder that the query had before, or start it with a new checkpoint"
                )
            is_restored |= way.snapshot is not None
            self._follow(way, version, read_again)
        if is_restored:
            logger.info("restored the state of %s in %.1f s", self._partition, time.monotonic() - began)
        self._write_snapshot(listed, version)
        # What the store keeps in memory of its work, such as a map of its file, is not needed for reading
        del self._store
        self._store = self._backend.open(self._name)
        return is_restored

    @property
    def _version(self) -> int | None:
        """The offset of the state that the store holds; None for none."""
        with self._store.view() as view:
            return None if view.marker is None else int(view.marker)

    def _follow(self, way: Restore, version: int, read_again: Callable[[OffsetRange], None]) -> None:
        """Go to a state, up to the first changes that are missing, which are read again."""
        known = self._version
        with self._store.writer() as writer:
            marker = None if writer.marker is None else int(writer.marker)
            if marker != known:
                # Another process was faster
                return
            at = marker
            if way.snapshot is not None:
                writer.clear()
                apply_changes(self._files.read_snapshot(self._partition, way.snapshot.version), self._column, writer)
                at = way.snapshot.version
            for step in way.steps:
                if isinstance(step, OffsetRange):
                    break
                apply_changes(self._files.read_changes(self._partition, step.start, step.end), self._column, writer)
                at = step.end
            writer.commit(str(at).encode())
        missing = next((step for step in way.steps if isinstance(step, OffsetRange)), None)
        if missing is not None:
            logger.warning(
                "no task has read %s to its end, as where an action takes some of the rows only; it is read again "
                "for the state of the table (version %d)",
                missing,
                version,
            )
            read_again(missing)

    def _write_snapshot(self, listed: PartitionFiles, version: int) -> None:
        """Write a snapshot when there are many changes since the last one, and delete what it makes superfluous."""
        last = max((snapshot for snapshot in listed.snapshots if snapshot.version <= version), default=Snapshot(0, 0))
        since = [change for change in listed.changes if last.version <= change.start and change.end <= version]
        worthwhile = max(SNAPSHOT_RATIO * last.size, MIN_SNAPSHOT_BYTES)
        if len(since) < MAX_CHANGE_FILES and sum(change.size for change in since) < worthwhile:
            return
        with self._store.view() as view:
            if view.marker == _marker(version):
                schema = snapshot_schema(self._column)
                batches = snapshot_batches(view.items(), self._column)
                self._files.write_snapshot(self._partition, version, batches, schema)
        self._files.delete(self._partition, superfluous(listed, self._retained, self._restart_offset))


def _marker(version: int) -> bytes:
    return str(version).encode()


def superfluous(files: PartitionFiles, retained: int, restart_offset: int) -> list[ChangeFile | Snapshot]:
    """Return the files that no micro-batch needs that may be repeated.

    Args:
        files: The files of a partition.
        retained: The number of micro-batches that may be repeated.
        restart_offset: The first offset from which a restarted query may read again.
    """
    if len(files.changes) < retained:
        return []
    oldest = min(files.changes[-retained].start, restart_offset)
    base = max((snapshot.version for snapshot in files.snapshots if snapshot.version <= oldest), default=0)
    snapshots = [snapshot for snapshot in files.snapshots if snapshot.version < base]
    return [*snapshots, *(change for change in files.changes if change.end <= base)]
