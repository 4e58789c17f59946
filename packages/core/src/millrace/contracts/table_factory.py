"""Table factories: what a table of SQL is read from and written to, named by its option ``connector``."""

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

    Its text is that of a plan: ``I``, ``UB``, ``UA``, ``D`` for ``+I``, ``-U``, ``+U``, ``-D``.

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
        """Return whether all kinds of the other mode are among its own."""
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
        metadata_key: Of a metadata column: the connector's name of that metadata, such as ``timestamp``.
        is_virtual: Of a metadata column: whether it can be read only.
        expression: Of a computed column: its expression in SQL. The table environment computes it; a source does not.
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
    """A table as its factory sees it: complete, checked, with secrets in place.

    Attributes:
        identifier: Catalog, database and name.
        columns: Its columns, in order.
        primary_key: The columns of its primary key; empty when it has none.
        partition_keys: The columns of PARTITIONED BY.
        options: Its options without ``connector``, those of a hint included. Their text shows no secret in errors.
        comment: Its comment.
        cdc_events_duplicate: Whether messages of changes may repeat events, so that a source with a primary key has to
            compare them with the rows that it keeps: ``table.exec.source.cdc-events-duplicate``.
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
        """Its name, without catalog and database."""
        return self.identifier[2]

    @property
    def physical_columns(self) -> tuple[TableColumn, ...]:
        """Its columns that are neither metadata nor computed."""
        return tuple(column for column in self.columns if column.is_physical)

    @property
    def metadata_columns(self) -> tuple[TableColumn, ...]:
        """Its metadata columns."""
        return tuple(column for column in self.columns if column.metadata_key is not None)


@dataclass(frozen=True)
class ScanContext:
    """Settings of the query that reads a table.

    Attributes:
        streaming: Whether the query is a stream.
        needs_update_before: Whether an operation of the query needs the old rows of updates (``-U``).
        state_location: Of a stream: a folder of the query's checkpoint for what the source keeps between micro-batches,
            as a path or URI; None where the query has no checkpoint of its own.
    """

    streaming: bool
    needs_update_before: bool = True
    state_location: str | None = None


@dataclass(frozen=True)
class SinkContext:
    """Settings of the query that writes a table.

    Attributes:
        overwrite: Of a batch: whether the rows replace those of the table (INSERT OVERWRITE).
        query_name: Of a stream: its name.
        checkpoint_location: Of a stream: its checkpoint, as a path or URI.
        trigger: Of a stream: the arguments of Spark's ``trigger``, such as ``{"processingTime": "10 seconds"}``.
        output_mode: Of a stream: Spark's output mode, ``append`` or, with aggregations, ``update``.
    """

    overwrite: bool = False
    query_name: str | None = None
    checkpoint_location: str | None = None
    trigger: Mapping[str, str | bool] | None = None
    output_mode: str = "append"

    def configure(self, writer: DataStreamWriter) -> DataStreamWriter:
        """Set name, checkpoint, trigger and output mode of a stream's writer, and return it."""
        writer = writer.outputMode(self.output_mode)
        if self.query_name is not None:
            writer = writer.queryName(self.query_name)
        if self.checkpoint_location is not None:
            writer = writer.option("checkpointLocation", self.checkpoint_location)
        return writer if self.trigger is None else writer.trigger(**self.trigger)


class PlannedTableRead(NamedTuple):
    """A read of a table by the data source ``millrace``.

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
        """The kinds of rows that it reads. By default rows are only inserted."""
        return ChangelogMode.INSERT_ONLY

    @property
    def raw_changelog_mode(self) -> ChangelogMode | None:
        """The kinds of rows of its messages, if it makes others of them by the rows that it keeps; by default None.

        A plan then shows that it normalizes changes.
        """
        return None

    @property
    def is_bounded(self) -> bool:
        """True when a stream of it has an end, by its options. By default it goes on."""
        return False

    @property
    def is_static(self) -> bool:
        """True when a stream reads it as a batch too, as `read` says. By default it is a stream."""
        return False

    @abstractmethod
    def read(self, spark: SparkSession, scan: ScanContext) -> DataFrame:
        """Return the table's physical and metadata columns, by name, in their declared types.

        A source that is not insert-only adds the column `ROW_KIND_COLUMN`. One that cannot be a stream, such as a table
        of a database, returns a batch for a stream too: a stream that is joined with it reads it again in each
        micro-batch.

        Args:
            spark: The session.
            scan: How the query reads it.

        Raises:
            OptionsError: The table cannot be read in this way, such as as a stream.
        """

    def planned_read(self, scan: ScanContext) -> PlannedTableRead | None:
        """Return how the data source ``millrace`` reads the table, for plans; by default None: it is read otherwise."""
        return None

    def read_changes(self, spark: SparkSession, since: str | None) -> DataFrame | None:
        """Return the last change of each key since a position, as a batch; by default None: there are no positions.

        A stream that looks up the table's current rows then reads only what is new in each micro-batch.

        Args:
            spark: The session.
            since: A position; None for all changes.

        Returns:
            The table's physical and metadata columns, by name, `ROW_KIND_COLUMN`, and columns for `changes_end` whose
            names begin with ``__``: ``+U`` with a new row, ``-D`` with the columns of the primary key at least.
        """
        return None

    def changes_end(self, changes: DataFrame, since: str | None) -> tuple[str | None, int]:
        """Return the position after changes, and their number.

        Args:
            changes: The rows of `read_changes`, which have been written to files meanwhile.
            since: The position that they begin with.
        """
        raise NotImplementedError


class TableSink(ABC):
    """Writer of a table."""

    @property
    def changelog_mode(self) -> ChangelogMode:
        """The kinds of rows that it can write. By default rows are only inserted.

        A sink that takes ``+U`` and not ``-U`` replaces rows by their key. It is given a ``-U`` all the same where the
        query may drop the new row, as a filter does: unless a later row of the batch has its key, it is a delete.
        """
        return ChangelogMode.INSERT_ONLY

    def planned_write(self) -> Mapping[str, str] | None:
        """Return the options of the data source ``millrace`` by which it writes, for plans; by default None."""
        return None

    @abstractmethod
    def write(self, rows: DataFrame, sink: SinkContext) -> None:
        """Write a batch of rows, and return when they are written.

        Args:
            rows: The table's physical columns and those of its metadata columns that can be written, by name. Rows of a
                changelog also have the column `ROW_KIND_COLUMN`.
            sink: How the query writes it.
        """

    def start(self, rows: DataFrame, sink: SinkContext) -> StreamingQuery:
        """Start a stream that writes rows, and return its query. By default `write` is called for each micro-batch.

        Args:
            rows: As of `write`, as a stream.
            sink: How the query writes it.
        """
        return sink.configure(rows.writeStream).foreachBatch(lambda batch, _: self.write(batch, sink)).start()


class TableFactory(Plugin, ABC):
    """Base of the plugins that create sources and sinks of tables with one value of the option ``connector``.

    A table's options belong to its connector, so that a factory parses them itself (`TableDescription.options`): it
    declares them as `TableOptions`, and gets them by `parse_options`, unless they are not known beforehand.

    Attributes:
        TableOptions: A frozen dataclass whose fields are made by `millrace.options.option`.
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
        """Check a table when it is created, before it is known whether it is read or written, and ask no other machine.

        By default the options are parsed as `TableOptions`; a factory whose options are not known beforehand overrides
        it.

        Args:
            table: The table without its computed columns, and without those that are to be inferred.

        Raises:
            OptionsError: An option is wrong or unknown.
            SchemaError: The connector has no such columns.
        """
        self.parse_options(table)

    def infer_columns(self, table: TableDescription, spark: SparkSession) -> tuple[TableColumn, ...]:
        """Return the columns of a table that declares no physical column, or of the table that AS TABLE copies.

        Declared columns keep their types and their order; inferred ones follow, unless a declared one has the name. By
        default a table has the columns that it declares.

        Raises:
            SchemaError: They cannot be determined.
        """
        return table.columns

    def source(self, table: TableDescription) -> TableSource:
        """Return a reader of the table.

        Raises:
            OptionsError: Its options are wrong, or such tables cannot be read.
        """
        from millrace.errors import OptionsError

        raise OptionsError(f"table {table.name!r}", ("its connector only writes; it cannot be read",))

    def sink(self, table: TableDescription) -> TableSink:
        """Return a writer of the table.

        Raises:
            OptionsError: Its options are wrong, or such tables cannot be written.
        """
        from millrace.errors import OptionsError

        raise OptionsError(f"table {table.name!r}", ("its connector only reads; it cannot be written",))
