"""The durable files of a stream's state, in any file system that Arrow reaches: snapshots, and changes since them.

The state of a partition at an offset is what all messages below that offset leave. A micro-batch writes its changes of
a partition, from its first offset to its last, as one file; a snapshot holds the whole state at an offset. The state at
an offset is the newest snapshot at or below it, and the changes from there. Names of files say what they hold, and a
file is there only when it is complete.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

import pyarrow as pa
from pyarrow import fs

from millrace.contracts import TopicPartition
from millrace.errors import StateError

_CHANGES = re.compile(r"(\d{20})-(\d{20})\.changes")
_SNAPSHOT = re.compile(r"(\d{20})\.snapshot")
_GENERATION = re.compile(r"generation-(\d+)")
_COPIED_BYTES = 4 << 20


class StateId(NamedTuple):
    """The name of a stream's state.

    Attributes:
        stream: The name that the stream gave itself when it began.
        generation: Counts how often the query went back to an older checkpoint, after which it reads on from there.
    """

    stream: str
    generation: int


class ChangeFile(NamedTuple):
    """The changes by the messages from one offset up to, but not with, another."""

    start: int
    end: int
    size: int


class Snapshot(NamedTuple):
    """The whole state at an offset."""

    version: int
    size: int


class PartitionFiles(NamedTuple):
    """The files of a partition, in order."""

    snapshots: tuple[Snapshot, ...] = ()
    changes: tuple[ChangeFile, ...] = ()


class StateFiles:
    """The files of one stream.

    Args:
        location: The folder of a query's state, as a path or a URI.
        stream: The name of the stream.

    Raises:
        StateError: The location is none, or its file system cannot be reached.
    """

    def __init__(self, location: str, stream: str) -> None:
        self._location = location
        try:
            # Hadoop's name of the same
            self._fs, root = fs.FileSystem.from_uri(re.sub(r"^s3[an]://", "s3://", location))
        except (OSError, pa.ArrowException, ValueError) as error:
            raise StateError(
                f"option 'state.checkpoints.dir': {location!r} cannot be used ({error}): give a path, or a URI such as "
                f"'hdfs://namenode/path' or 's3://bucket/path', that driver and executors reach"
            ) from error
        self._root = f"{root.rstrip('/')}/{stream}"
        self._has_rename = self._fs.type_name in {"local", "hdfs"}

    def list_all(self) -> tuple[int, dict[TopicPartition, PartitionFiles]]:
        """Return the generation, and the files of all partitions."""
        generation, by_partition = 0, dict[TopicPartition, list[fs.FileInfo]]()
        for info in self._list(self._root, recursive=True):
            topic, partition, name = ["", "", *info.path.split("/")][-3:]
            if match := _GENERATION.fullmatch(name):
                generation = max(generation, int(match[1]))
            elif partition.isdigit():
                by_partition.setdefault(TopicPartition(topic, int(partition)), []).append(info)
        return generation, {partition: _parse(infos) for partition, infos in by_partition.items()}

    def list_partition(self, partition: TopicPartition) -> PartitionFiles:
        """Return the files of one partition."""
        return _parse(self._list(self._folder(partition)))

    def begin_generation(self, generation: int) -> None:
        """Write down that a generation begins."""
        self._write(f"{self._root}/generation-{generation}", lambda _: None)

    def has_changes(self, partition: TopicPartition, start: int, end: int) -> bool:
        """Return whether there is a file of changes."""
        with self._errors("reading"):
            info = self._fs.get_file_info(f"{self._folder(partition)}/{_changes_name(start, end)}")
            return info.type == fs.FileType.File

    def read_changes(self, partition: TopicPartition, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """Yield the changes of a file, in the order of their messages."""
        return self._read(f"{self._folder(partition)}/{_changes_name(start, end)}")

    def read_snapshot(self, partition: TopicPartition, version: int) -> Iterator[pa.RecordBatch]:
        """Yield the state at an offset, keys and their stored messages, by ascending key."""
        return self._read(f"{self._folder(partition)}/{_snapshot_name(version)}")

    def write_changes(self, partition: TopicPartition, start: int, end: int, content: IO[bytes]) -> None:
        """Write a file of changes, unless there is one: what the first attempt has read is what happened.

        Args:
            partition: Whose changes.
            start: The first offset.
            end: The offset after the last one.
            content: The file's content, of which all is read.
        """
        if self.has_changes(partition, start, end):
            return

        def copy(sink: pa.NativeFile) -> None:
            content.seek(0)
            while piece := content.read(_COPIED_BYTES):
                sink.write(piece)

        self._write(f"{self._folder(partition)}/{_changes_name(start, end)}", copy)

    def write_snapshot(
        self, partition: TopicPartition, version: int, batches: Iterable[pa.RecordBatch], schema: pa.Schema
    ) -> None:
        """Write the state at an offset.

        Args:
            partition: Whose state.
            version: The offset.
            batches: The state: keys and their stored messages, by ascending key.
            schema: The schema of the batches.
        """

        def write(sink: pa.NativeFile) -> None:
            with new_stream_writer(sink, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)

        self._write(f"{self._folder(partition)}/{_snapshot_name(version)}", write)

    def delete(self, partition: TopicPartition, files: Sequence[ChangeFile | Snapshot]) -> None:
        """Delete files; those that somebody else has deleted are gone already."""
        for file in files:
            name = _snapshot_name(file.version) if isinstance(file, Snapshot) else _changes_name(file.start, file.end)
            with self._errors("deleting from"), suppress(FileNotFoundError):
                self._fs.delete_file(f"{self._folder(partition)}/{name}")

    def _folder(self, partition: TopicPartition) -> str:
        return f"{self._root}/{partition.topic}/{partition.partition}"

    def _list(self, folder: str, *, recursive: bool = False) -> list[fs.FileInfo]:
        with self._errors("reading"):
            selector = fs.FileSelector(folder, allow_not_found=True, recursive=recursive)
            return [info for info in self._fs.get_file_info(selector) if info.type == fs.FileType.File]

    def _read(self, path: str) -> Iterator[pa.RecordBatch]:
        with self._errors("reading"), self._fs.open_input_stream(path) as source, pa.ipc.open_stream(source) as reader:
            yield from reader

    def _write(self, path: str, write: Callable[[pa.NativeFile], object]) -> None:
        """Write a file, which is there when it is complete."""
        # A store of objects shows none before it is complete; in a file system a rename does that
        target = f"{path}.{uuid.uuid4().hex}.tmp" if self._has_rename else path
        with self._errors("writing"):
            if self._has_rename:
                self._fs.create_dir(str(Path(path).parent), recursive=True)
            with self._fs.open_output_stream(target, compression=None) as sink:
                write(sink)
            if self._has_rename:
                self._fs.move(target, path)

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            raise StateError(
                f"{doing} the state of a table in {self._location!r} (option 'state.checkpoints.dir') failed: {error}"
            ) from error


def new_stream_writer(sink: object, schema: pa.Schema) -> pa.ipc.RecordBatchStreamWriter:
    """Return a writer of the format of these files."""
    return pa.ipc.new_stream(sink, schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))


def _snapshot_name(version: int) -> str:
    return f"{version:020}.snapshot"


def _changes_name(start: int, end: int) -> str:
    return f"{start:020}-{end:020}.changes"


def _parse(infos: Sequence[fs.FileInfo]) -> PartitionFiles:
    snapshots, changes = [], []
    for info in infos:
        if match := _SNAPSHOT.fullmatch(info.base_name):
            snapshots.append(Snapshot(int(match[1]), info.size))
        elif match := _CHANGES.fullmatch(info.base_name):
            changes.append(ChangeFile(int(match[1]), int(match[2]), info.size))
    return PartitionFiles(tuple(sorted(snapshots)), tuple(sorted(changes)))
