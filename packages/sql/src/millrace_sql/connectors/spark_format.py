"""Any other connector: a format of Spark, with the table's options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from millrace.contracts import ScanContext, SinkContext, TableDescription, TableFactory, TableSink, TableSource
from millrace.errors import SchemaError
from millrace.streams import stream_reader
from millrace_sql.connectors.rows import as_declared, physical_rows, refuse_metadata, schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

_HAS_ITS_OWN_COLUMNS = "user-specified schema"
"""A part of the error for a format that takes no columns, such as rate and jdbc."""


class SparkFormatSource(TableSource):
    """Read of a format.

    Args:
        table: The table.
        format_name: The format's name.
    """

    def __init__(self, table: TableDescription, format_name: str) -> None:
        refuse_metadata(table, format_name)
        self._table = table
        self._format = format_name

    def read(self, spark: SparkSession, scan: ScanContext) -> DataFrame:
        """Read the columns that the table declares."""
        try:
            return self._reader(spark, scan).schema(schema_of(self._table)).load()
        except Exception as error:
            # Py4J's error where the session is classic, Spark's where it is not
            if _HAS_ITS_OWN_COLUMNS not in str(error):
                raise
        return as_declared(self._reader(spark, scan).load(), self._table)

    def _reader(self, spark: SparkSession, scan: ScanContext) -> Any:
        reader = stream_reader(spark, scan.source_name) if scan.streaming else spark.read
        return reader.format(self._format).options(**self._table.options)


class SparkFormatSink(TableSink):
    """Write of a format, of rows that are inserted.

    Args:
        table: The table.
        format_name: The format's name.
    """

    def __init__(self, table: TableDescription, format_name: str) -> None:
        refuse_metadata(table, format_name)
        self._table = table
        self._format = format_name

    def write(self, rows: DataFrame, sink: SinkContext) -> None:
        """Append the rows, or replace what the table holds."""
        writer = physical_rows(rows, self._table).write.format(self._format).options(**self._table.options)
        if self._table.partition_keys:
            writer = writer.partitionBy(*self._table.partition_keys)
        writer.mode("overwrite" if sink.overwrite else "append").save()

    def start(self, rows: DataFrame, sink: SinkContext) -> StreamingQuery:
        """Start a stream that appends rows; output mode update, which few formats take, goes through foreachBatch."""
        if sink.output_mode != "append":
            return super().start(rows, sink)
        writer = physical_rows(rows, self._table).writeStream.format(self._format).options(**self._table.options)
        if self._table.partition_keys:
            writer = writer.partitionBy(*self._table.partition_keys)
        return sink.configure(writer).start()


class SparkFormatFactory(TableFactory):
    """Tables whose connector is the name of a format of Spark.

    Args:
        format_name: The format's name.
    """

    def __init__(self, format_name: str) -> None:
        super().__init__()
        self.format_name = format_name

    def check(self, table: TableDescription) -> None:
        """Refuse metadata columns; a format does not publish its options."""
        refuse_metadata(table, self.format_name)

    def infer_columns(self, table: TableDescription, spark: SparkSession) -> tuple[Any, ...]:
        """Ask the format for its columns."""
        from millrace.contracts import TableColumn

        refuse_metadata(table, self.format_name)
        declared = {column.name for column in table.columns}
        schema = spark.read.format(self.format_name).options(**table.options).load().schema
        format_columns = [
            TableColumn(field.name, field.dataType, field.nullable) for field in schema if field.name not in declared
        ]
        if not (format_columns or declared):
            raise SchemaError(f"table {table.name!r}: format {self.format_name!r} has no own columns; declare them")
        return (*table.columns, *format_columns)

    def source(self, table: TableDescription) -> SparkFormatSource:
        """Return a reader of the format."""
        return SparkFormatSource(table, self.format_name)

    def sink(self, table: TableDescription) -> SparkFormatSink:
        """Return a writer of the format."""
        return SparkFormatSink(table, self.format_name)
