"""Messages that a task has fetched behind its range, kept for the task that goes on there.

Brokers send whole batches, and a client asks for more than a range holds. Spark gives the tasks of a query to the
Python workers of an executor in turn, so that a worker can seldom use what it has in memory. A file for each partition
serves them all, in the folder of the executor's temporary data, which Spark removes.

A file holds all visible messages of a part of a log, and only a range of the same log reads it: of the same stream,
brokers and isolation level, and with the same topic id and leader epoch. Within an epoch a log only grows.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import HEADERS, TopicPartition
from millrace.options.secrets import Properties
from millrace.records.messages import Messages
from millrace.source.splits import OffsetRange, StreamLog
from millrace.worker import CLIENT_MAX_IDLE_S

logger = logging.getLogger("millrace")

MIN_BYTES = 16 << 10
"""Size of keys and values from which messages are kept: a file takes longer than to fetch less once more."""

MAX_BYTES = 16 << 20
"""Size of the keys and values that are kept of a partition."""

MAX_TOTAL_BYTES = 256 << 20
"""Size of all files of an executor."""

BATCH_MESSAGES = 5_000
"""Messages that are read from a file at once."""

_ENDING = ".messages"
_START, _TOPIC_ID, _EPOCH = b"start", b"topic-id", b"leader-epoch"
_COLUMNS = {
    "offset": pa.int64(),
    "key": pa.binary(),
    "value": pa.binary(),
    "headers": HEADERS,
    "timestamp_type": pa.int8(),
    "timestamp": pa.int64(),
    "leader_epoch": pa.int32(),
}


@dataclass(frozen=True)
class Kept:
    """The kept messages of a log from one offset up to, but not with, another.

    Attributes:
        partition: Their partition.
        rows: The messages.
        end: The offset after the last one.
    """

    partition: TopicPartition
    rows: pa.RecordBatch
    end: int

    def up_to(self, end: int) -> Iterator[Messages]:
        """Yield the messages before an offset, in batches."""
        count = int(np.searchsorted(self.rows.column("offset").to_numpy(), end))
        for first in range(0, count, BATCH_MESSAGES):
            rows = self.rows.slice(first, min(BATCH_MESSAGES, count - first))
            yield Messages(self.partition, _to_messages(self.partition, rows))


class KeptMessages:
    """The files of an executor with what clients of the same properties have fetched.

    Args:
        folder: The folder for the files, which is created when it is needed.
        client: The clients' properties.
    """

    def __init__(self, folder: Path, client: Properties) -> None:
        self._folder = folder
        self._client = client

    def find(self, range_: OffsetRange) -> Kept | None:
        """Return the kept messages from the beginning of a range on; None where there are none."""
        if range_.log is None:
            return None
        with contextlib.suppress(OSError, pa.ArrowException):
            with pa.memory_map(str(self._path(range_, range_.log))) as file:
                rows = pa.ipc.open_file(file).get_batch(0)
            offsets = rows.column("offset").to_numpy()
            start, end = int(rows.schema.metadata[_START]), int(offsets[-1]) + 1
            if _identity(range_.log).items() <= rows.schema.metadata.items() and start <= range_.start < end:
                return Kept(range_.partition, rows.slice(int(np.searchsorted(offsets, range_.start))), end)
        return None

    def put(self, fetched: Mapping[OffsetRange, Sequence[Message]]) -> None:
        """Keep what was fetched behind some ranges, in place of what was kept of their partitions before.

        Args:
            fetched: For each range the visible messages that follow it, without a gap; perhaps none.
        """
        try:
            room: int | None = None
            for range_, messages in fetched.items():
                log = range_.log
                sizes = list(accumulate(len(message) + len(message.key() or b"") for message in messages))
                count = int(np.searchsorted(sizes, MAX_BYTES, side="right"))
                size = sizes[count - 1] if count else 0
                if log is None or size < MIN_BYTES:
                    self.drop(range_)
                    continue
                room = self._room() if room is None else room
                if size <= room:
                    self._write(range_, log, messages[:count])
                    room -= size
                else:
                    self.drop(range_)
        except (OSError, pa.ArrowException, UnicodeError) as error:
            logger.debug("messages that were fetched ahead are not kept: %s", error)

    def drop(self, range_: OffsetRange) -> None:
        """Delete what is kept of a range's partition."""
        if range_.log is not None:
            self._path(range_, range_.log).unlink(missing_ok=True)

    def _path(self, range_: OffsetRange, log: StreamLog) -> Path:
        # Nothing secret, and of the properties those by which a log has other messages
        seen_by = (self._client.get("bootstrap.servers"), self._client.get("isolation.level"))
        named = (log.stream, *range_.partition, *seen_by)
        return self._folder / (hashlib.sha256("\0".join(map(str, named)).encode()).hexdigest()[:40] + _ENDING)

    def _room(self) -> int:
        """Return how many bytes may be added, after those that nobody has used for long are gone."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        used, long_ago = 0, time.time() - CLIENT_MAX_IDLE_S
        for path in self._folder.iterdir():
            # Others delete files, too
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                if status.st_mtime < long_ago:
                    path.unlink()
                else:
                    used += status.st_size
        return MAX_TOTAL_BYTES - used

    def _write(self, range_: OffsetRange, log: StreamLog, messages: Sequence[Message]) -> None:
        path = self._path(range_, log)
        unfinished = path.with_suffix(f".{os.getpid()}")
        schema = pa.schema(_COLUMNS, metadata={_START: str(range_.end), **_identity(log)})
        try:
            with pa.OSFile(str(unfinished), "wb") as file, pa.ipc.new_file(file, schema) as writer:
                writer.write_batch(pa.RecordBatch.from_arrays(_to_columns(messages), schema=schema))
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


def kept_messages_of_executor(client: Properties) -> KeptMessages | None:
    """Return the files of the executor that this process works for; None where Spark names no folder for them."""
    folders = os.environ.get("SPARK_LOCAL_DIRS")
    return KeptMessages(Path(folders.split(",")[0], "millrace-fetched"), client) if folders else None


def _identity(log: StreamLog) -> dict[bytes, bytes]:
    return {_TOPIC_ID: log.topic_id.encode(), _EPOCH: str(log.leader_epoch).encode()}


def _to_columns(messages: Sequence[Message]) -> list[pa.Array]:
    stamps = np.array(list(map(Message.timestamp, messages)), np.int64)
    headers = list(map(Message.headers, messages))
    columns: dict[str, Any] = {
        "offset": list(map(Message.offset, messages)),
        "key": list(map(Message.key, messages)),
        "value": list(map(Message.value, messages)),
        "headers": [pairs and [{"key": key, "value": value} for key, value in pairs] for pairs in headers],
        "timestamp_type": stamps[:, 0],
        "timestamp": stamps[:, 1],
        "leader_epoch": list(map(Message.leader_epoch, messages)),
    }
    return [pa.array(columns[name], kind) for name, kind in _COLUMNS.items()]


def _to_messages(partition: TopicPartition, rows: pa.RecordBatch) -> list[Message]:
    offsets, keys, values, listed, stamp_types, stamps, epochs = map(_to_objects, rows.columns)
    headers = (pairs and [(pair["key"], pair["value"]) for pair in pairs] for pairs in listed)
    topics, numbers, errors = repeat(partition.topic), repeat(partition.partition), repeat(None)
    both = zip(stamp_types, stamps, strict=True)
    fields = zip(topics, numbers, offsets, keys, values, headers, errors, both, strict=False)
    # The client takes no None for an epoch
    return [
        Message(*message_fields) if epoch is None else Message(*message_fields, 0.0, epoch)
        for message_fields, epoch in zip(fields, epochs, strict=True)
    ]


def _to_objects(column: pa.Array) -> list[Any]:
    if column.null_count == len(column):
        return [None] * len(column)
    if pa.types.is_binary(column.type) or (pa.types.is_integer(column.type) and not column.null_count):
        return column.to_numpy(zero_copy_only=False).tolist()
    return column.to_pylist()
