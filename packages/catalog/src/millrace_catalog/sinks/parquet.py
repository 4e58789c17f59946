"""A plain folder of parquet files as a sink."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import functions as fn

from millrace.errors import SchemaError
from millrace_catalog.jvm import HadoopFolder
from millrace_catalog.sinks.atomic_replace import HIDDEN, NEW, finish_replacement, replace_files
from millrace_catalog.sinks.casting import same_type
from millrace_catalog.sinks.columns import cast_rows, empty_rows, widen_sink
from millrace_catalog.sinks.deduplicate import Deduplicator, SinkKeys
from millrace_catalog.sinks.table_sink import KEY, ReplicationSink
from millrace_catalog.types import ArrayType, DataType, MapType, RowType, Schema
from millrace_catalog.types.spark import from_spark_schema, to_spark, to_spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COLUMNS_FILE = "0-columns-"
"""Name prefix of the file without rows that defines the columns: readers use those of the first file by name."""

APPENDED = f"{HIDDEN}/appended"
"""Folder of rows that are written and not yet part of the table."""

_NEW_COLUMNS_FILE = f"{HIDDEN}/columns"


class ParquetSink(ReplicationSink):
    """A folder of parquet files, which anyone reads with ``spark.read.parquet(path)``.

    The first file by name has no rows but all columns, so that a plain read finds columns that older files lack. When a
    type becomes wider, all rows are rewritten, since files of both types cannot be read together.

    Args:
        path: Path of the folder, in any of Hadoop's file systems. It is created if it does not exist; existing parquet
            files belong to the table.
        open_folder: Opens the folder, from a session and the path.
    """

    def __init__(self, path: str, *, open_folder: Callable[[SparkSession, str], HadoopFolder] = HadoopFolder) -> None:
        self._path = path
        self._open_folder = open_folder
        self._schema: Schema | None = None
        self._deduplicator = Deduplicator(SinkKeys(self._keys, self._ends))

    @property
    def schema(self) -> Schema | None:
        """The columns of the folder; None before `prepare`."""
        return self._schema

    def prepare(self, spark: SparkSession, schema: Schema) -> None:
        """Create the folder or change its columns: see `ReplicationSink.prepare`."""
        folder = self._open_folder(spark, self._path)
        finish_replacement(folder)
        self._deduplicator.forget()
        current = self._current_schema(spark, folder)
        # Parquet has no lengths of text and bytes
        required = from_spark_schema(to_spark_schema(schema))
        after = required if current is None else widen_sink(current, required, repr(self))
        if current is None or not _columns_files(folder) or not _same_types(current, after):
            self._change(spark, folder, current, after)
        self._schema = after

    def open(self, spark: SparkSession) -> str | None:
        """Read the columns of the folder as it is; return the name of the file that defines them, if there is one."""
        folder = self._open_folder(spark, self._path)
        finish_replacement(folder)
        names = _columns_files(folder)
        self._schema = self._current_schema(spark, folder) if names else None
        return names[0] if names else None

    def append(self, rows: DataFrame) -> None:
        """Append the rows that the folder does not have: see `ReplicationSink.append`."""
        if self._schema is None:
            raise SchemaError(f"{self!r} must be prepared before rows are appended")
        self._deduplicator.append(cast_rows(rows, self._schema), self._write)

    def __repr__(self) -> str:
        return f"ParquetSink({self._path!r})"

    def _write(self, rows: DataFrame) -> None:
        folder = self._open_folder(rows.sparkSession, self._path)
        rows.write.mode("overwrite").parquet(folder.path(APPENDED))
        # Moved by the driver, so that no leftover task adds rows later
        for name in folder.names(APPENDED):
            folder.move(f"{APPENDED}/{name}", name)
        folder.delete(HIDDEN)

    def _current_schema(self, spark: SparkSession, folder: HadoopFolder) -> Schema | None:
        """Read the columns of the folder; None when it has no files."""
        names = folder.names()
        for name in names:
            if not folder.is_file(name):
                raise SchemaError(f"{self!r} contains a folder {name!r}, but must contain only files: give another")
        if not names:
            return None
        reader = spark.read.option("mergeSchema", "true")
        return from_spark_schema(reader.parquet(*map(folder.path, _columns_files(folder) or names)).schema)

    def _change(self, spark: SparkSession, folder: HadoopFolder, current: Schema | None, after: Schema) -> None:
        folder.delete(NEW)
        if current is not None and _needs_rewrite(current, after):
            rows = spark.read.schema(to_spark_schema(current)).parquet(self._path)
            cast_rows(rows, after).write.mode("overwrite").parquet(folder.path(NEW))
            remove = folder.names()
        else:
            remove = _columns_files(folder)
        self._add_columns_file(spark, folder, after)
        replace_files(folder, remove, folder.names(NEW))

    def _add_columns_file(self, spark: SparkSession, folder: HadoopFolder, schema: Schema) -> None:
        empty_rows(spark, schema).coalesce(1).write.mode("overwrite").parquet(folder.path(_NEW_COLUMNS_FILE))
        (file,) = folder.names(_NEW_COLUMNS_FILE)
        folder.make(NEW)
        folder.move(f"{_NEW_COLUMNS_FILE}/{file}", f"{NEW}/{_COLUMNS_FILE}{uuid.uuid4().hex}.parquet")

    def _keys(self, spark: SparkSession) -> DataFrame:
        columns = Schema() if self._schema is None else self._schema
        return spark.read.schema(to_spark_schema(columns)).parquet(self._path).select(*KEY)

    def _ends(self, spark: SparkSession) -> dict[int, int]:
        partition, offset = KEY
        rows = self._keys(spark).groupBy(partition).agg(fn.max(offset).alias("last")).collect()
        return {row[partition]: row["last"] for row in rows}


def _columns_files(folder: HadoopFolder) -> list[str]:
    return [name for name in folder.names() if name.startswith(_COLUMNS_FILE)]


def _same_types(before: Schema, after: Schema) -> bool:
    return same_type(to_spark_schema(before), to_spark_schema(after))


def _needs_rewrite(before: Schema, after: Schema) -> bool:
    types = after.types
    return not all(_reads_as(column.type, types[column.name]) for column in before)


def _reads_as(before: DataType, after: DataType) -> bool:
    """Return whether readers can read values stored as one type as the other; missing fields read as NULL."""
    if isinstance(before, RowType) and isinstance(after, RowType):
        types = after.types
        return all(_reads_as(field.type, types[field.name]) for field in before.fields)
    if isinstance(before, ArrayType) and isinstance(after, ArrayType):
        return _reads_as(before.element, after.element)
    if isinstance(before, MapType) and isinstance(after, MapType):
        return _reads_as(before.key, after.key) and _reads_as(before.value, after.value)
    return same_type(to_spark(before), to_spark(after))
