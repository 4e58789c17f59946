"""Stores of partitions that other attempts use as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from millrace.contracts import KeyedStore, StateBackend, StateView, StateWriter
from millrace.source.reader.state_versions import VersionedStore, superfluous
from millrace.source.reader.stored_messages import codec_for
from millrace.source.splits import OffsetRange
from millrace.source.state_files import ChangeFile, PartitionFiles, Snapshot, StateFiles, StateId
from support.tables import PARTITION, Stream, Topic, row


class SharedStore(KeyedStore):
    """A store of LMDB in which something else happens before each view."""

    def __init__(self, store: KeyedStore, before_view: Callable[[], None]) -> None:
        self._store, self._before_view = store, before_view

    def writer(self) -> AbstractContextManager[StateWriter]:
        return self._store.writer()

    @contextmanager
    def view(self) -> Iterator[StateView]:
        self._before_view()
        with self._store.view() as view:
            yield view


class SharedBackend(StateBackend):
    """Opens such stores."""

    def __init__(self, backend: StateBackend, before_view: Callable[[], None]) -> None:
        self._backend, self._before_view = backend, before_view

    def open(self, name: str) -> KeyedStore:
        return SharedStore(self._backend.open(name), self._before_view)

    def remove(self, name: str) -> None:
        self._backend.remove(name)


def read_nothing(missing: OffsetRange) -> None:
    raise AssertionError(f"{missing} has been read")


def version_of(stream: Stream, backend: StateBackend, version: int) -> tuple[bytes | None, int]:
    """Return the marker of the view that a task gets, and how many rows it has."""
    location = str(stream.folder / "state")
    options = stream.config("a").options
    files, column = StateFiles(location, "stream"), codec_for(options.metadata).column
    store = VersionedStore(files, backend, StateId("stream", 0), location, PARTITION, column, 100, 0)
    with store.view(version, read_nothing, lambda: None) as view:
        return view.marker, view.size


def test_a_task_reads_its_own_state_though_a_leftover_attempt_moves_the_store(tmp_path: Path) -> None:
    stream = Stream(Topic(row(1, "a"), row(2, "b"), row(3, "c")), tmp_path)
    for end in (1, 2, 3):
        stream.run(end)
    backend = stream.config("a").state_backend.create()
    views = iter(range(100))

    def move() -> None:
        # After the task has looked at the version of the store, and before it reads
        if next(views) == 1:
            assert version_of(stream, backend, 1) == (b"1", 1)

    assert version_of(stream, SharedBackend(backend, move), 2) == (b"2", 2)
    assert next(views) > 2


def test_files_are_superfluous_below_the_snapshot_that_a_restart_begins_with() -> None:
    changes = tuple(ChangeFile(start, start + 1, 9) for start in range(10))
    files = PartitionFiles((Snapshot(0, 9), Snapshot(4, 9), Snapshot(8, 9)), changes)
    assert superfluous(files, 2, 9) == [Snapshot(0, 9), Snapshot(4, 9), *changes[:8]]
    assert superfluous(files, 2, 6) == [Snapshot(0, 9), *changes[:4]]
    assert superfluous(files, 2, 3) == []
