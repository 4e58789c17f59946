"""The connector filesystem: a folder of files in any of Hadoop's file systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Gt

from millrace.contracts import (
    ScanContext,
    SinkContext,
    TableColumn,
    TableDescription,
    TableFactory,
    TableSink,
    TableSource,
)
from millrace.errors import OptionsError, SchemaError
from millrace.options import option
from millrace.options.parser import OptionParser
from millrace.options.suggestions import closest
from millrace.options.values import parse_duration_ms
from millrace.streams import stream_reader
from millrace_catalog.jvm import HadoopFolder
from millrace_sql.connectors.file_formats import Format, take_format_options
from millrace_sql.connectors.rows import column_of, physical_rows, schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

_METADATA = {
    "file.path": "file_path",
    "file.name": "file_name",
    "file.size": "file_size",
    "file.modification-time": "file_modification_time",
}
_STREAM_LOG = "_spark_metadata"


@dataclass(frozen=True)
class FilesystemOptions:
    """Options of a table of files."""

    path: str = option("path", doc="The folder, or for reads also a file, as a path or URI of a Hadoop file system.")
    format: Format = option(
        "format",
        doc="The format of the files. raw and text have one STRING column with one row per line. Format options are "
        "Spark's, such as csv.header. The Flink options csv.field-delimiter, csv.quote-character, "
        "csv.escape-character, csv.null-literal, csv.ignore-parse-errors and json.ignore-parse-errors work too.",
    )
    monitor_interval_ms: Annotated[int, Gt(0)] | None = option(
        "source.monitor-interval",
        default=None,
        parse=parse_duration_ms,
        doc="Lets a stream continue with files that are added; each micro-batch looks for new ones. Without it, a "
        "stream ends after the existing files.",
    )
    parallelism: Annotated[int, Gt(0)] | None = option(
        "sink.parallelism",
        default=None,
        doc="The number of tasks that write, which is also the number of files in a partition.",
    )


class FilesystemSource(TableSource):
    """Read of files.

    Args:
        table: The table.
        options: Its options.
        format_options: Those of Spark's format.
    """

    def __init__(self, table: TableDescription, options: FilesystemOptions, format_options: Mapping[str, str]) -> None:
        self._table = table
        self._options = options
        self._format_options = format_options
        for column in table.metadata_columns:
            _check_metadata(table, column)

    @property
    def is_bounded(self) -> bool:
        """True without ``source.monitor-interval``."""
        return self._options.monitor_interval_ms is None

    def read(self, spark: SparkSession, scan: ScanContext) -> DataFrame:
        """Read the files that are there; a stream also those that are added."""
        from pyspark.sql import functions as fn

        reader: Any = stream_reader(spark, scan.source_name) if scan.streaming else spark.read
        reader = reader.format(_spark_format(self._options.format)).options(**self._format_options)
        rows = reader.schema(schema_of(self._table)).load(self._options.path)
        columns = [column_of(column.name) for column in self._table.physical_columns]
        for column in self._table.metadata_columns:
            value = fn.col(f"_metadata.{_METADATA[str(column.metadata_key)]}")
            columns.append(value.cast(column.type).alias(column.name))
        return rows.select(*columns)


class FilesystemSink(TableSink):
    """Write of files, in a folder for each value of the partition columns.

    Args:
        table: The table.
        options: Its options.
        format_options: Those of Spark's format.
    """

    def __init__(self, table: TableDescription, options: FilesystemOptions, format_options: Mapping[str, str]) -> None:
        self._table = table
        self._options = options
        self._format_options = format_options
        for column in table.metadata_columns:
            if not column.is_virtual:
                raise SchemaError(
                    f"table {table.name!r}: column {column.name!r} is metadata {column.metadata_key!r}, which can only "
                    f"be read: declare it VIRTUAL, so that INSERT INTO leaves it out"
                )

    def write(self, rows: DataFrame, sink: SinkContext) -> None:
        """Add files. INSERT OVERWRITE replaces the partitions of its rows, or all files of a table without any.

        Raises:
            OptionsError: A stream writes to the folder, whose readers see nothing but the stream's files.
        """
        folder = HadoopFolder(rows.sparkSession, self._options.path)
        if folder.exists(_STREAM_LOG):
            raise OptionsError(
                f"table {self._table.name!r}",
                (
                    f"a stream has written to {self._options.path} (there is {_STREAM_LOG}), and Spark reads only what "
                    f"the stream wrote: give the batch a path of its own",
                ),
            )
        writer = self._prepared(rows).write.format(_spark_format(self._options.format)).options(**self._format_options)
        if self._table.partition_keys:
            writer = writer.partitionBy(*self._table.partition_keys).option("partitionOverwriteMode", "dynamic")
        writer.mode("overwrite" if sink.overwrite else "append").save(self._options.path)

    def start(self, rows: DataFrame, sink: SinkContext) -> StreamingQuery:
        """Start a stream that adds files, each micro-batch exactly once.

        Raises:
            OptionsError: The query updates its rows, as an aggregation without a watermark does.
        """
        if sink.output_mode != "append":
            problem = "connector 'filesystem' takes rows that are inserted once: aggregate by windows of a watermark"
            raise OptionsError(f"table {self._table.name!r}", (problem,))
        writer = self._prepared(rows).writeStream.format(_spark_format(self._options.format))
        writer = writer.options(**self._format_options).option("path", self._options.path)
        if self._table.partition_keys:
            writer = writer.partitionBy(*self._table.partition_keys)
        return sink.configure(writer).start()

    def _prepared(self, rows: DataFrame) -> DataFrame:
        rows = physical_rows(rows, self._table)
        return rows if self._options.parallelism is None else rows.repartition(self._options.parallelism)


class FilesystemTableFactory(TableFactory):
    """Tables with ``'connector' = 'filesystem'``."""

    TableOptions = FilesystemOptions

    def check(self, table: TableDescription) -> None:
        """Check options and columns: see `TableFactory.check`."""
        self.source(table)

    def infer_columns(self, table: TableDescription, spark: SparkSession) -> tuple[TableColumn, ...]:
        """Ask Spark for the columns of the files."""
        options, format_options = self._parse(table)
        reader = spark.read.format(_spark_format(options.format)).options(**format_options)
        declared = {column.name for column in table.columns}
        columns = [
            TableColumn(field.name, field.dataType, field.nullable) for field in reader.load(options.path).schema
        ]
        return (*table.columns, *(column for column in columns if column.name not in declared))

    def source(self, table: TableDescription) -> FilesystemSource:
        """Return a reader of the files."""
        return FilesystemSource(table, *self._parse(table))

    def sink(self, table: TableDescription) -> FilesystemSink:
        """Return a writer of files."""
        return FilesystemSink(table, *self._parse(table))

    def table_options(self, table: TableDescription) -> FilesystemOptions:
        """Return the options of a table but those of its format."""
        return self._parse(table)[0]

    def _parse(self, table: TableDescription) -> tuple[FilesystemOptions, Mapping[str, str]]:
        parser = OptionParser(f"table {table.name!r}", table.options)
        options: FilesystemOptions | None = parser.take(FilesystemOptions)
        format_options: dict[str, str] = {}
        if options is not None:
            format_options = take_format_options(options.format, parser)
            if options.format in ("raw", "text"):
                _check_one_text(table, options.format)
        parser.finish()
        if options is None:
            raise OptionsError(f"table {table.name!r}", ("options 'path' and 'format' are required",))
        return options, format_options


def _spark_format(name: Format) -> str:
    return "text" if name == "raw" else name


def _check_one_text(table: TableDescription, name: str) -> None:
    columns = [column for column in table.physical_columns if column.name not in table.partition_keys]
    if table.physical_columns and [column.type.simpleString() for column in columns] != ["string"]:
        raise SchemaError(f"table {table.name!r}: format {name!r} has one STRING column, not {len(columns)} columns")


def _check_metadata(table: TableDescription, column: TableColumn) -> None:
    key = str(column.metadata_key)
    if key not in _METADATA:
        close = closest(key, _METADATA)
        hint = f"did you mean {close!r}? " if close else ""
        raise SchemaError(
            f"table {table.name!r}: column {column.name!r} is of unknown metadata {key!r}; {hint}There is "
            f"{', '.join(_METADATA)}"
        )
