"""Recordings as Parquet: a row per message, with topic and schemas in the file's metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from millrace_cli.errors import CommandError
from millrace_cli.recordings.contents import (
    BATCH_BYTES,
    BATCH_ROWS,
    COLUMNS,
    Extent,
    RecordedSchema,
    RecordedTopic,
    Recording,
)
from millrace_cli.row_files import ParquetRows

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

METADATA = "millrace.recording"
"""The name of the metadata's entry."""

_OPTIONAL = {"headers", "timestampType", "topic"}
"""Columns that a file of another program may lack: Spark's own connector has no headers by default."""


class ParquetRecordingWriter:
    """Write a recording as Parquet.

    Args:
        file: The file.
        topic: The topic.
    """

    def __init__(self, file: IO[bytes], topic: RecordedTopic) -> None:
        self._rows = ParquetRows(file, COLUMNS)
        self._topic = topic
        self._schemas: list[RecordedSchema] = []

    def write(self, rows: pa.Table) -> None:
        """Write some messages."""
        self._rows.write(rows)

    def add_schema(self, schema: RecordedSchema) -> None:
        """Add a schema."""
        self._schemas.append(schema)

    def close(self) -> None:
        """Write what is left."""
        content = {**self._topic.to_json(), "schemas": [schema.to_json() for schema in self._schemas]}
        self._rows.add_metadata(METADATA, json.dumps(content, ensure_ascii=False))
        self._rows.close()


class ParquetRecording(Recording):
    """A recording in a Parquet file, of millrace or of another program that writes the same columns.

    Args:
        path: The file.

    Raises:
        CommandError: It is no Parquet file, lacks a column, or has one of another type.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        file = self._file
        lacking = [name for name in COLUMNS.names if name not in {*file.schema_arrow.names, *_OPTIONAL}]
        if lacking:
            raise CommandError(
                f"{path} lacks the columns of messages {', '.join(lacking)}: record a topic by millrace record, or "
                f"write a file with the columns {', '.join(COLUMNS.names)}"
            )
        self._check_types(file)
        content = self._content(file)
        self.topic = RecordedTopic.from_json(content, path) if content else RecordedTopic(self._first_topic(file))
        self.schemas = tuple(map(RecordedSchema.from_json, content.get("schemas", ())))

    def batches(self, partition: int | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the messages in the order of the file; of one partition, from the row groups that have some."""
        file = self._file
        groups = [number for number in range(file.num_row_groups) if _may_have(file, number, partition)]
        names = [name for name in COLUMNS.names if name in file.schema_arrow.names]
        for batch in file.iter_batches(_batch_rows(file), groups, names):
            rows = batch if partition is None else batch.filter(pc.equal(batch.column("partition"), partition))
            if rows.num_rows:
                yield self._with_columns(rows)

    @cached_property
    def extent(self) -> Extent:
        """The extent, from the columns partition and timestamp."""
        file = self._file
        partitions: set[int] = set()
        bounds: list[int] = []
        without_time = 0
        for batch in file.iter_batches(columns=["partition", "timestamp"]):
            partitions.update(batch.column("partition").unique().to_pylist())
            without_time += batch.column("timestamp").null_count
            times = pc.min_max(self._times(batch))
            bounds += [time.as_py() // 1000 for time in times.values() if time.is_valid]
        if None in partitions:
            raise CommandError(f"{self.path} has messages without a partition")
        return Extent(
            file.metadata.num_rows,
            tuple(sorted(partitions)),
            min(bounds, default=None),
            max(bounds, default=None),
            without_time,
        )

    def _times(self, batch: pa.RecordBatch) -> pa.Array:
        try:
            return _in_microseconds(batch.column("timestamp")).cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise CommandError(f"{self.path} has a timestamp that recordings cannot have: {error}") from None

    def _check_types(self, file: ParquetFile) -> None:
        expected = {"timestamp": (pa.types.is_timestamp, "TIMESTAMP"), "partition": (pa.types.is_integer, "INT")}
        for name, (is_right, type_name) in expected.items():
            type_ = file.schema_arrow.field(name).type
            if not is_right(type_):
                raise CommandError(
                    f"{self.path} has the column {name} with the type {type_}, expected {type_name}: write it as one"
                )

    @cached_property
    def _file(self) -> ParquetFile:
        """The file, which is open once: a replay reads all partitions at a time."""
        from pyarrow.parquet import ParquetFile

        try:
            return ParquetFile(self.path, memory_map=True)
        except (OSError, pa.ArrowException) as error:
            raise CommandError(f"{self.path} cannot be read as Parquet: {error}") from None

    def _content(self, file: ParquetFile) -> dict[str, Any]:
        text = (file.metadata.metadata or {}).get(METADATA.encode())
        return {} if text is None else json.loads(text)

    def _first_topic(self, file: ParquetFile) -> str | None:
        if "topic" not in file.schema_arrow.names:
            return None
        batch = next(file.iter_batches(1, columns=["topic"]), None)
        return None if batch is None or not batch.num_rows else batch.column("topic")[0].as_py()

    def _with_columns(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        try:
            arrays = [_column(rows, field) for field in COLUMNS]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise CommandError(f"{self.path} has a column of another type than recordings have: {error}") from None
        return pa.RecordBatch.from_arrays(arrays, schema=COLUMNS)


def _column(rows: pa.RecordBatch, field: pa.Field) -> pa.Array:
    if field.name not in rows.schema.names:
        return pa.nulls(rows.num_rows, field.type)
    column = rows.column(field.name)
    return (_in_microseconds(column) if field.name == "timestamp" else column).cast(field.type)


def _batch_rows(file: ParquetFile) -> int:
    """Return how many rows a batch has, by the largest rows that a row group has on average."""
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    row_bytes = max((group.total_byte_size // max(1, group.num_rows) for group in groups), default=0)
    return max(1, min(BATCH_ROWS, BATCH_BYTES // max(1, row_bytes)))


def _may_have(file: ParquetFile, group: int, partition: int | None) -> bool:
    """Return whether a row group may have messages of a partition, by its statistics."""
    if partition is None:
        return True
    columns = file.metadata.row_group(group)
    chunks = (columns.column(number) for number in range(columns.num_columns))
    statistics = next(chunk.statistics for chunk in chunks if chunk.path_in_schema == "partition")
    if statistics is None or not statistics.has_min_max:
        return True
    return bool(statistics.min <= partition <= statistics.max)


def _in_microseconds(times: pa.Array) -> pa.Array:
    """Return times in microseconds; of nanoseconds, which some programs write, the microsecond that they are in."""
    times = times.cast(pa.timestamp(times.type.unit, "UTC"))
    if times.type.unit == "ns":
        times = pc.floor_temporal(times, unit="microsecond")
    return times.cast(pa.timestamp("us", "UTC"))
