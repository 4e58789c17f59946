"""One table of Delta Lake: create it, change its columns, and merge rows into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from millrace.contracts import PipelineTable
from millrace.errors import SchemaError
from millrace.options.secrets import without_values
from millrace.pyspark_internals import from_arrow_schema, to_arrow_schema
from millrace_catalog.sinks.columns import cast_rows, check_case, new_columns
from millrace_catalog.sinks.table_sink import TableSinkError
from millrace_catalog.types import (
    STRING,
    ArrayType,
    Column,
    DataType,
    MapType,
    RowType,
    Schema,
    widen_schemas,
    with_nullability,
)
from millrace_catalog.types.spark import from_spark_schema, to_spark_schema
from millrace_catalog.types.widen import deeply_nullable
from millrace_cdc.connectors.delta.rows import DELETED, kept_flag, kept_flags
from millrace_cdc.connectors.dropped_targets import check_columns, check_types, missing_table

if TYPE_CHECKING:
    from deltalake import CommitProperties, DeltaTable
    from pyspark.sql import SparkSession

_COMMENT = "comment"


class DeltaSinkTable:
    """A table of Delta Lake.

    Args:
        id_: Id of the table.
        uri: Its folder.
        storage: Options of the storage.

    Attributes:
        uri: Its folder.
    """

    def __init__(self, id_: str, uri: str, storage: Mapping[str, str]) -> None:
        self._id = id_
        self.uri = uri
        self._storage = dict(storage)

    def fit(self, spark: SparkSession, table: PipelineTable, added: frozenset[str] | None) -> None:
        """Create the table, or add columns and widen types.

        Args:
            spark: A session.
            table: The table.
            added: The columns that it does not have yet; None where it may be created.

        Raises:
            SchemaError: It does not exist and must not be created, has lost a column, or cannot have the columns.
            TableSinkError: The storage refused.
        """
        required = columns_of(table)
        with self._translated_errors("be prepared"):
            delta = self._open()
            if delta is None:
                if added is not None:
                    raise self._missing()
                self._create(table, required)
                return
            current = _columns(delta)
            if added is not None:
                check_columns(self._id, (name for name in required.names if name not in added), current.types)
            after = self._fitting(current, required)
            new = new_columns(current, after)
            if any(column.type != after.types[column.name] for column in current):
                self._rewrite(spark, delta, after)
            elif new:
                from deltalake import Schema as DeltaSchema

                fields = DeltaSchema.from_arrow(arrow_schema(Schema(new))).fields
                delta.alter.add_columns(list(fields))

    def exists(self) -> bool:
        """Return whether the folder holds a table.

        Raises:
            TableSinkError: The storage refused.
        """
        with self._translated_errors("be opened"):
            return self._open() is not None

    def check(self, table: PipelineTable) -> None:
        """Check that the table can be created, or can get the columns.

        Raises:
            SchemaError: It cannot.
            TableSinkError: The storage refused.
        """
        required = columns_of(table)
        with self._translated_errors("be opened"):
            delta = self._open()
        self._fitting(Schema(()) if delta is None else _columns(delta), required)

    def needs(self, pipeline: str, batch: int) -> bool:
        """Return whether the table does not have a micro-batch of a pipeline yet, by its own log.

        Raises:
            SchemaError: It does not exist.
        """
        with self._translated_errors("be read"):
            delta = self._open()
            if delta is None:
                raise self._missing()
            version = delta.transaction_version(pipeline)
            return version is None or int(version) < batch

    def write(self, table: PipelineTable, rows: pa.Table, pipeline: str, batch: int, *, truncate: bool) -> list[int]:
        """Write the rows of a micro-batch, and its number, in one commit; return the sizes of all files, in bytes.

        Args:
            table: The table.
            rows: Its rows, with the column `DELETED`.
            pipeline: The id of the pipeline.
            batch: The number of the micro-batch.
            truncate: Whether the table loses all rows before.

        Raises:
            SchemaError: It does not exist, or has lost a column.
            TableSinkError: The storage refused, or someone else has changed the same rows.
        """
        from deltalake import CommitProperties, Transaction, write_deltalake

        properties = CommitProperties(app_transactions=[Transaction(pipeline, batch)])
        with self._translated_errors("be written"):
            delta = self._open()
            if delta is None:
                raise self._missing()
            check_types(self._id, columns_of(table), _columns(delta))
            if truncate or not table.primary_key:
                extra = [DELETED, *kept_flags(rows)]
                inserts = _completed(rows.filter(pa.compute.invert(rows[DELETED])).drop_columns(extra), delta)
                write_deltalake(
                    delta, inserts, mode="overwrite" if truncate else "append", commit_properties=properties
                )
            else:
                _merge(delta, rows, table.primary_key, properties)
            sizes: list[int] = pa.table(delta.get_add_actions())["size_bytes"].to_pylist()
            return sizes

    def _fitting(self, current: Schema, required: Schema) -> Schema:
        after = widen_schemas(current, required)
        check_case(after.names, f"table {self._id!r}")
        return after

    def _open(self) -> DeltaTable | None:
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        try:
            return DeltaTable(self.uri, storage_options=self._storage)
        except TableNotFoundError:
            return None

    def _create(self, table: PipelineTable, columns: Schema) -> None:
        from deltalake import DeltaTable

        self._fitting(Schema(()), columns)
        options = dict(table.options)
        comment = options.pop(_COMMENT, None)
        DeltaTable.create(
            self.uri,
            arrow_schema(columns),
            mode="ignore",
            partition_by=list(table.partition_keys) or None,
            description=comment,
            configuration=options or None,
            storage_options=self._storage,
        )

    def _rewrite(self, spark: SparkSession, delta: DeltaTable, after: Schema) -> None:
        """Rewrite all rows, with the casts that wider columns of every table have."""
        from deltalake import write_deltalake

        rows = cast_rows(spark.createDataFrame(delta.to_pyarrow_table()), after).toArrow()
        write_deltalake(
            delta,
            rows.cast(arrow_schema(after)),
            mode="overwrite",
            schema_mode="overwrite",
            partition_by=list(delta.metadata().partition_columns) or None,
        )

    def _missing(self) -> SchemaError:
        return missing_table(self._id, f"in {self.uri}, which holds none")

    @contextmanager
    def _translated_errors(self, action: str) -> Iterator[None]:
        from deltalake.exceptions import CommitFailedError, DeltaError

        try:
            yield
        except (DeltaError, OSError) as error:
            # Of the storages' errors, only those of files have classes of their own
            is_lasting = isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError)
            text = without_values(str(error), self._storage.values())
            failure = TableSinkError(f"table {self._id!r} in {self.uri} could not {action}: {text}")
            failure.is_transient = isinstance(error, CommitFailedError | OSError) and not is_lasting
            raise failure from None


def _merge(delta: DeltaTable, rows: pa.Table, key: Sequence[str], properties: CommitProperties) -> None:
    same = " AND ".join(f"t.{_quoted(name)} = s.{_quoted(name)}" for name in key)
    flags = kept_flags(rows)
    is_gone, is_there, extra = f's."{DELETED}"', f'NOT s."{DELETED}"', [DELETED, *flags]
    merge = delta.merge(rows, same, source_alias="s", target_alias="t", commit_properties=properties)
    merge = merge.when_matched_delete(is_gone)
    if flags:
        merge = merge.when_matched_update(_updates(rows, flags), is_there)
    else:
        merge = merge.when_matched_update_all(is_there, except_cols=extra)
    merge.when_not_matched_insert_all(is_there, except_cols=extra).execute()


def _updates(rows: pa.Table, flags: Sequence[str]) -> dict[str, str]:
    """Return the values of columns in updated rows, which keep some of those that the table has."""
    updates = {}
    for index, name in enumerate(rows.column_names[: rows.column_names.index(DELETED)]):
        column, flag = _quoted(name), kept_flag(index)
        value = f"s.{column}"
        updates[column] = f'CASE WHEN s."{flag}" THEN t.{column} ELSE {value} END' if flag in flags else value
    return updates


def _completed(rows: pa.Table, delta: DeltaTable) -> pa.Table:
    """Add the columns that the table has in addition, which appended rows cannot lack, with NULL."""
    for field in pa.schema(delta.schema().to_arrow()):
        if field.name not in rows.schema.names:
            rows = rows.append_column(field.name, pa.nulls(len(rows), field.type))
    return rows


def columns_of(table: PipelineTable) -> Schema:
    """Return the columns that a table of Delta Lake has.

    Raises:
        SchemaError: It can have no such type.
    """
    columns = from_spark_schema(table.schema)
    return Schema(tuple(Column(column.name, _stored(column.type, table.id)) for column in columns))


def arrow_schema(columns: Schema) -> pa.Schema:
    """Return columns as Arrow has them."""
    return to_arrow_schema(to_spark_schema(columns))


def _columns(delta: DeltaTable) -> Schema:
    schema: Any = pa.schema(delta.schema().to_arrow())
    columns = from_spark_schema(from_arrow_schema(schema))
    return Schema(tuple(Column(column.name, deeply_nullable(column.type)) for column in columns))


def _stored(type_: DataType, table: str) -> DataType:
    type_ = deeply_nullable(type_)
    if isinstance(type_, ArrayType):
        return ArrayType(_stored(type_.element, table))
    if isinstance(type_, MapType):
        return MapType(with_nullability(_stored(type_.key, table), False), _stored(type_.value, table))
    if isinstance(type_, RowType):
        return RowType(tuple(Column(field.name, _stored(field.type, table)) for field in type_.fields))
    if type_.kind == "VARIANT":
        raise SchemaError(f"table {table!r} has a VARIANT, which sink delta does not write: cast it to STRING")
    return STRING if type_.kind in ("TIME", "NULL") else type_


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
