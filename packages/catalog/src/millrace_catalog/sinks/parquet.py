"""A plain folder of parquet files as a target."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from pyspark.sql import functions as fn

from millrace.errors import SchemaError
from millrace_catalog.jvm.folder import Folder
from millrace_catalog.sinks import atomic_replace as swap
from millrace_catalog.sinks.casting import same
from millrace_catalog.sinks.columns import fitted, no_rows, widened
from millrace_catalog.sinks.deduplicate import Keys, MissingRows
from millrace_catalog.sinks.table_sink import KEY, TableSink
from millrace_catalog.types import Array, DataType, Map, Row, Schema
from millrace_catalog.types.spark import from_spark_schema, to_spark, to_spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COLUMNS = "0-columns-"
"""How the name of the file without rows begins that says the columns; readers look at the first file for them."""

_APPENDED = f"{swap.HIDDEN}/appended"
_MADE = f"{swap.HIDDEN}/columns"


class ParquetTarget(TableSink):
    """A folder of parquet files, which anyone reads with ``spark.read.parquet(path)``.

    A file without rows, whose name comes first, has all columns, so that a plain read finds those that older files
    lack. When a type becomes wider, all rows are written anew, since files of both types cannot be read together.

    Args:
        path: The folder, in any of Hadoop's file systems. It is made if it is missing; files of parquet that are there
            already belong to the table.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._schema: Schema | None = None
        self._missing = MissingRows(Keys(self._keys, self._ends))

    def prepare(self, spark: SparkSession, schema: Schema) -> None:
        """Make the folder hold these columns: see `TableSink.prepare`."""
        folder = Folder(spark, self._path)
        swap.finish(folder)
        self._missing.forget()
        held = self._held(spark, folder)
        # As parquet has them, which knows no lengths
        wanted = from_spark_schema(to_spark_schema(schema))
        after = wanted if held is None else widened(held, wanted, repr(self))
        if held is None or not _columns_files(folder) or not _same(held, after):
            self._change(spark, folder, held, after)
        self._schema = after

    def append(self, rows: DataFrame) -> None:
        """Add the rows that the folder does not have: see `TableSink.append`."""
        if self._schema is None:
            raise SchemaError(f"{self!r} must be prepared before rows are appended")
        self._missing.add(fitted(rows, self._schema), self._write)

    def __repr__(self) -> str:
        return f"ParquetTarget({self._path!r})"

    def _write(self, rows: DataFrame) -> None:
        folder = Folder(rows.sparkSession, self._path)
        rows.write.mode("overwrite").parquet(folder.path(_APPENDED))
        # By the driver alone: no task that goes on somewhere adds rows later
        for name in folder.names(_APPENDED):
            folder.move(f"{_APPENDED}/{name}", name)
        folder.delete(swap.HIDDEN)

    def _held(self, spark: SparkSession, folder: Folder) -> Schema | None:
        """The columns of the folder; None when it has no files."""
        names = folder.names()
        for name in names:
            if not folder.is_file(name):
                raise SchemaError(f"{self!r} has a folder {name!r} in it, and a target's files have none: give another")
        if not names:
            return None
        reader = spark.read.option("mergeSchema", "true")
        return from_spark_schema(reader.parquet(*map(folder.path, _columns_files(folder) or names)).schema)

    def _change(self, spark: SparkSession, folder: Folder, held: Schema | None, after: Schema) -> None:
        folder.delete(swap.NEW)
        if held is not None and _needs_rewriting(held, after):
            rows = spark.read.schema(to_spark_schema(held)).parquet(self._path)
            fitted(rows, after).write.mode("overwrite").parquet(folder.path(swap.NEW))
            remove = folder.names()
        else:
            remove = _columns_files(folder)
        self._add_columns_file(spark, folder, after)
        swap.swap(folder, remove, folder.names(swap.NEW))

    def _add_columns_file(self, spark: SparkSession, folder: Folder, schema: Schema) -> None:
        no_rows(spark, schema).coalesce(1).write.mode("overwrite").parquet(folder.path(_MADE))
        (made,) = folder.names(_MADE)
        folder.make(swap.NEW)
        folder.move(f"{_MADE}/{made}", f"{swap.NEW}/{_COLUMNS}{uuid.uuid4().hex}.parquet")

    def _keys(self, spark: SparkSession) -> DataFrame:
        columns = Schema() if self._schema is None else self._schema
        return spark.read.schema(to_spark_schema(columns)).parquet(self._path).select(*KEY)

    def _ends(self, spark: SparkSession) -> dict[int, int]:
        partition, offset = KEY
        rows = self._keys(spark).groupBy(partition).agg(fn.max(offset).alias("last")).collect()
        return {row[partition]: row["last"] for row in rows}


def _columns_files(folder: Folder) -> list[str]:
    return [name for name in folder.names() if name.startswith(_COLUMNS)]


def _same(before: Schema, after: Schema) -> bool:
    return same(to_spark_schema(before), to_spark_schema(after))


def _needs_rewriting(before: Schema, after: Schema) -> bool:
    types = after.types
    return not all(_reads_as(column.type, types[column.name]) for column in before)


def _reads_as(before: DataType, after: DataType) -> bool:
    """Whether readers take what was stored as the one type for the other; fields that are missing are NULL to them."""
    if isinstance(before, Row) and isinstance(after, Row):
        types = after.types
        return all(_reads_as(field.type, types[field.name]) for field in before.fields)
    if isinstance(before, Array) and isinstance(after, Array):
        return _reads_as(before.element, after.element)
    if isinstance(before, Map) and isinstance(after, Map):
        return _reads_as(before.key, after.key) and _reads_as(before.value, after.value)
    return same(to_spark(before), to_spark(after))
