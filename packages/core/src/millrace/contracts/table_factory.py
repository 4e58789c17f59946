"""Table factories: create the sources and sinks of SQL tables. The option ``connector`` names the plugin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from millrace.contracts.plugin import NoOptions, Plugin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery
    from pyspark.sql.types import DataType, StructType

ROW_KIND_COLUMN = "__row_kind"
"""The STRING column of row kinds (``+I``, ``-U``, ``+U``, ``-D``) in the rows of a changelog."""


@dataclass(frozen=True)
class ChangelogMode:
    """The kinds of rows that a changelog may contain.

    ``str()`` formats it as in plans: ``I``, ``UB``, ``UA``, ``D`` for ``+I``, ``-U``, ``+U``, ``-D``.

    Attributes:
        row_kinds: The kinds.
    """

    row_kinds: frozenset[str]

    INSERT_ONLY: ClassVar[ChangelogMode]
    UPSERT: ClassVar[ChangelogMode]
    ALL: ClassVar[ChangelogMode]

    @property
    def is_insert_only(self) -> bool:
        """True when rows are never updated or deleted."""
        return self.row_kinds == {"+I"}

    def contains(self, other: ChangelogMode) -> bool:
        """Return whether it includes all kinds of another mode."""
        return other.row_kinds <= self.row_kinds

    def __str__(self) -> str:
        names = {"+I": "I", "-U": "UB", "+U": "UA", "-D": "D"}
        return "[" + ",".join(name for kind, name in names.items() if kind in self.row_kinds) + "]"


ChangelogMode.INSERT_ONLY = ChangelogMode(frozenset({"+I"}))
ChangelogMode.UPSERT = ChangelogMode(frozenset({"+I", "+U", "-D"}))
ChangelogMode.ALL = ChangelogMode(frozenset({"+I", "-U", "+U", "-D"}))


@dataclass(frozen=True)
class TableColumn:
    """A column of a table.

    Attributes:
        name: Its name.
        type: Its type in Spark.
        nullable: Whether it may be NULL.
        metadata_key: For a metadata column, the connector's metadata key, such as ``timestamp``.
        is_virtual: For a metadata column, whether it is read-only.
        expression: For a computed column, its SQL expression. The table environment computes it; sources do not.
        comment: Its comment.
    """

    name: str
    type: DataType
    nullable: bool = True
    metadata_key: str | None = None
    is_virtual: bool = False
    expression: str | None = None
    comment: str | None = None

    @property
    def is_physical(self) -> bool:
        """True when the column is neither metadata nor computed."""
        return self.metadata_key is None and self.expression is None


@dataclass(frozen=True)
class TableDescription:
    """A complete and validated table, with resolved secrets, as passed to its factory.

    Attributes:
        identifier: Catalog, database and name.
        columns: Its columns, in order.
        primary_key: The columns of its primary key; empty when it has none.
        partition_keys: The columns of PARTITIONED BY.
        options: Its options without ``connector``, including those of a hint. ``str()`` does not show secrets.
        comment: Its comment.
        cdc_events_duplicate: Whether change messages may repeat events, so a source with a primary key must compare
        them with its state: ``table.exec.source.cdc-events-duplicate``.
    """

    identifier: tuple[str, str, str]
    columns: tuple[TableColumn, ...]
    primary_key: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    cdc_events_duplicate: bool = False

    @property
    def name(self) -> str:
        """The name of the table, without catalog and database."""
        return self.identifier[2]

    @property
    def physical_columns(self) -> tuple[TableColumn, ...]:
        """The columns that are neither metadata nor computed."""
        return tuple(column for column in self.columns if column.is_physical)

    @property
    def metadata_columns(self) -> tuple[TableColumn, ...]:
        """The metadata columns."""
        return tuple(column for column in self.columns if column.metadata_key is not None)


@dataclass(frozen=True)
class ScanContext:
    """Settings of the query that reads a table.

    Attributes:
        streaming: Whether the query is a stream.
        needs_update_before: Whether an operation of the query needs the old rows of updates (``-U``).
        state_location: For a stream, a folder in the query's checkpoint for the source's state, as a path or URI. None
        if the query has no checkpoint of its own.
        source_name: For a stream, a text that tells the source from others of the query and is the same after a
            restart: ``millrace.streams.stream_reader`` names the source by it if the session demands names.
        reads_once: For a batch, whether one place of one query reads the rows, so that the source may leave rows out by
            the filters that Spark pushes to it.
        filter_report: For EXPLAIN of a batch, a file to which the source writes the filters by which it leaves rows
            out.
    """

    streaming: bool
    needs_update_before: bool = True
    state_location: str | None = None
    source_name: str = "table"
    reads_once: bool = False
    filter_report: str | None = None


@dataclass(frozen=True)
class SinkContext:
    """Settings of the query that writes a table.

    Attributes:
        overwrite: For a batch, whether the rows replace those of the table (INSERT OVERWRITE).
        query_name: For a stream, the name of the query.
        checkpoint_location: For a stream, its checkpoint, as a path or URI.
        trigger: For a stream, the arguments of Spark's ``trigger``, such as ``{"processingTime": "10 seconds"}``.
        output_mode: For a stream, Spark's output mode: ``append`` or, with aggregations, ``update``.
    """

    overwrite: bool = False
    query_name: str | None = None
    checkpoint_location: str | None = None
    trigger: Mapping[str, str | bool] | None = None
    output_mode: str = "append"

    def configure(self, writer: DataStreamWriter) -> DataStreamWriter:
        """Set name, checkpoint, trigger and output mode of a stream writer, and return it."""
        writer = writer.outputMode(self.output_mode)
        if self.query_name is not None:
            writer = writer.queryName(self.query_name)
        if self.checkpoint_location is not None:
            writer = writer.option("checkpointLocation", self.checkpoint_location)
        return writer if self.trigger is None else writer.trigger(**self.trigger)


class PlannedTableRead(NamedTuple):
    """A read of a table with the data source ``millrace``.

    Attributes:
        options: Its options.
        schema: Its columns.
    """

    options: Mapping[str, str]
    schema: StructType


class TableSource(ABC):
    """Reader of a table."""

    @property
    def changelog_mode(self) -> ChangelogMode:
        """The kinds of rows that it returns. The default is insertions only."""
        return ChangelogMode.INSERT_ONLY

    @property
    def raw_changelog_mode(self) -> ChangelogMode | None:
        """The kinds of rows in its messages, if it normalizes them with its state. The default is None.

        Plans show that changes are normalized.
        """
        return None

    @property
    def is_bounded(self) -> bool:
        """True when a stream of this source ends, as set in its options. The default is False."""
        return False

    @property
    def is_static(self) -> bool:
        """True when `read` returns a batch even for a stream. The default is False."""
        return False

    @abstractmethod
    def read(self, spark: SparkSession, scan: ScanContext) -> DataFrame:
        """Return the table's physical and metadata columns, by name, in their declared types.

        A source that is not insert-only adds the column `ROW_KIND_COLUMN`. A source that cannot be a stream, such as a
        database table, returns a batch even for a stream: a stream that is joined with it reads it again in each
        micro-batch.

        Args:
            spark: The session.
            scan: How the query reads it.

        Raises:
            OptionsError: The table cannot be read in this way, for example not as a stream.
        """

    def planned_read(self, scan: ScanContext) -> PlannedTableRead | None:
        """Return how the data source ``millrace`` reads the table, for plans. None, the default, if it does not."""
        return None

    def read_changes(self, spark: SparkSession, since: str | None) -> DataFrame | None:
        """Return the last change of each key since a position, as a batch. None, the default, without positions.

        A stream that joins with the table's current rows then reads only new changes in each micro-batch.

        Args:
            spark: The session.
            since: A position; None for all changes.

        Returns:
            The table's physical and metadata columns, by name, `ROW_KIND_COLUMN`, and columns for `changes_end` whose
            names begin with ``__``. Kinds are ``+U`` with the new row, and ``-D`` with at least the primary key.
        """
        return None

    def changes_end(self, changes: DataFrame, since: str | None) -> tuple[str | None, int]:
        """Return the position after changes, and their number.

        Args:
            changes: The rows of `read_changes`, read back from files.
            since: The position at which they begin.
        """
        raise NotImplementedError


class TableSink(ABC):
    """Writer of a table."""

    @property
    def changelog_mode(self) -> ChangelogMode:
        """The kinds of rows that it can write. The default is insertions only.

        A sink that accepts ``+U`` but not ``-U`` replaces rows by key. It still gets a ``-U`` if the query might drop
        the new row, as a filter does. Unless a later row of the batch has the same key, such a ``-U`` is a deletion.
        """
        return ChangelogMode.INSERT_ONLY

    @property
    def needs_update_before(self) -> bool:
        """True when each ``+U`` must follow the ``-U`` of the row that it replaces, since nothing else finds that row.

        The default is False. Aggregations then keep their old results, which makes them slower.
        """
        return False

    def planned_write(self) -> Mapping[str, str] | None:
        """Return the options with which the data source ``millrace`` writes the table, for plans; None by default."""
        return None

    @abstractmethod
    def write(self, rows: DataFrame, sink: SinkContext) -> None:
        """Write a batch of rows, and return after they have been written.

        Args:
            rows: The table's physical columns and those of its metadata columns that can be written, by name. Rows of a
                changelog also have the column `ROW_KIND_COLUMN`.
            sink: How the query writes it.
        """

    def start(self, rows: DataFrame, sink: SinkContext) -> StreamingQuery:
        """Start a stream that writes rows, and return its query. The default calls `write` for each micro-batch.

        Args:
            rows: A stream with the columns of `write`.
            sink: How the query writes it.
        """
        return sink.configure(rows.writeStream).foreachBatch(lambda batch, _: self.write(batch, sink)).start()


class TableFactory(Plugin, ABC):
    """Base class of the plugins that create the sources and sinks of one connector.

    Each connector has its own table options, so factories parse `TableDescription.options` themselves. A factory
    declares the options as `TableOptions` and calls `parse_options`, unless the options cannot be declared in advance.

    Attributes:
        TableOptions: A frozen dataclass whose fields are defined with `millrace.options.option`.
    """

    TableOptions: ClassVar[type] = NoOptions

    def parse_options(self, table: TableDescription) -> Any:
        """Return the options of a table as `TableOptions`.

        Raises:
            OptionsError: Options are invalid; the message lists all problems.
        """
        from millrace.options.parser import OptionParser

        parser = OptionParser(f"table {table.name!r}", table.options)
        options = parser.take(self.TableOptions)
        parser.finish()
        return options

    def check(self, table: TableDescription) -> None:
        """Check a table when it is created, before it is read or written, without contacting other machines.

        The default parses the options as `TableOptions`. Override it if the options cannot be declared in advance.

        Args:
            table: The table without computed columns and without columns that will be inferred.

        Raises:
            OptionsError: An option is wrong or unknown.
            SchemaError: The connector has no such columns.
        """
        self.parse_options(table)

    def infer_columns(self, table: TableDescription, spark: SparkSession) -> tuple[TableColumn, ...]:
        """Return the columns of a table without physical columns, or of a table that AS TABLE copies.

        Declared columns keep their types and order. Inferred columns follow, except those with the name of a declared
        one. The default returns the declared columns.

        Raises:
            SchemaError: They cannot be determined.
        """
        return table.columns

    def source(self, table: TableDescription) -> TableSource:
        """Return a reader of the table.

        Raises:
            OptionsError: Its options are invalid, or its connector cannot read.
        """
        from millrace.errors import OptionsError

        raise OptionsError(f"table {table.name!r}", ("its connector only writes; it cannot be read",))

    def sink(self, table: TableDescription) -> TableSink:
        """Return a writer of the table.

        Raises:
            OptionsError: Its options are invalid, or its connector cannot write.
        """
        from millrace.errors import OptionsError

        raise OptionsError(f"table {table.name!r}", ("its connector only reads; it cannot be written",))
