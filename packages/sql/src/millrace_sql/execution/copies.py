"""Run CREATE TABLE ... AS TABLE: create a table, and copy another one into it from then on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from millrace.contracts import TableDescription
from millrace_sql.configuration.session import SessionConfiguration
from millrace_sql.connectors.table_copy import copy_sink, copy_table, described_copy
from millrace_sql.definitions.manager import CatalogManager
from millrace_sql.definitions.model import CONNECTOR, TableDefinition, shown
from millrace_sql.errors import SqlError
from millrace_sql.execution.checkpoints import QueryPlaces
from millrace_sql.execution.jobs import Job, JobStatus
from millrace_sql.execution.tables import Tables
from millrace_sql.planner import rewrite_expression
from millrace_sql.script_texts import Identifier, SqlText
from millrace_sql.statements import AsTable, ComputedColumn, CreateTable, Insert

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_catalog import EvolvingQuery


class CopyJob(Job):
    """A copy whose query restarts when the columns of its table change.

    Args:
        copy: The copy.
        on_end: Called once, when it has ended and that was noticed.
        source: Name of the table that is copied.
        target: Name of the table that it is copied into.
        options: Options of the table that is copied.

    Attributes:
        copy: The copy.
        source: Name of the table that is copied.
        target: Name of the table that it is copied into.
        options: Options of the table that is copied.
    """

    def __init__(
        self,
        copy: EvolvingQuery,
        on_end: Callable[[], None],
        source: Identifier,
        target: Identifier,
        options: Mapping[str, str],
    ) -> None:
        super().__init__([copy.query], on_end)
        self.copy = copy
        self.source = source
        self.target = target
        self.options = options

    def status(self) -> JobStatus:
        """Return the state; a restart is none of its ends."""
        if self.copy.exception() is not None:
            return JobStatus.FAILED
        if not self.copy.await_termination(0):
            return JobStatus.RUNNING
        return JobStatus.CANCELED if self._is_cancelled else JobStatus.FINISHED

    def has_ended(self) -> bool:
        """Return whether it is over."""
        return self.status() is not JobStatus.RUNNING

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for its end: see `Job.wait`."""
        if not self.copy.await_termination(timeout_s):
            return False
        self._stop()
        return True

    def _stop(self) -> None:
        self.copy.stop()
        super()._stop()


class CopyRunner:
    """Run CREATE TABLE ... AS TABLE.

    Args:
        spark: The session.
        configuration: The settings.
        catalogs: The definitions.
        tables: Describes tables.
        places: Chooses checkpoints.
        create: Creates the table of a statement, unless IF NOT EXISTS finds it.
    """

    def __init__(
        self,
        spark: SparkSession,
        configuration: SessionConfiguration,
        catalogs: CatalogManager,
        tables: Tables,
        places: QueryPlaces,
        create: Callable[[CreateTable], object],
    ) -> None:
        self._spark = spark
        self._configuration = configuration
        self._catalogs = catalogs
        self._tables = tables
        self._places = places
        self._create = create

    def run(self, statement: CreateTable, as_table: AsTable) -> CopyJob:
        """Create the table, and start the copy; a table that IF NOT EXISTS finds is copied into, too.

        Raises:
            SqlError: The statement declares columns, or copies another table than one of connector kafka.
            MillraceError: Such tables cannot be copied.
        """
        added = _added_columns(statement, as_table)
        source = self._definition(as_table.table)
        if source.options[CONNECTOR] != "kafka":
            raise SqlError(
                f"AS TABLE copies tables of connector 'kafka', not {source.options[CONNECTOR]!r}: copy others with AS "
                f"SELECT",
                as_table.table.position,
            )
        described = self._tables.declared(source, as_table.options)
        described_copy(described, added)
        name = self._catalogs.resolve(statement.table)
        wanted = TableDescription(_parts(name), (), (), statement.partition_keys, statement.options)
        # Both are checked before there is a table that nothing can be copied into
        copy_sink(_without_connector(wanted), statement.options.get(CONNECTOR, ""))
        self._create(replace(statement, as_table=None))
        target = self._definition(name)
        place = self._places.of_insert(_as_insert(name, source.identifier, added), name, is_one_of_many=False)
        try:
            copy = copy_table(
                described,
                self._tables.declared(target),
                target.options[CONNECTOR],
                added,
                spark=self._spark,
                checkpoint_location=place.checkpoint,
                column_places={
                    added_column.column.name: added_column.after
                    for added_column in as_table.added_columns
                    if added_column.after is not None
                },
                trigger=self._trigger(),
            )
        except BaseException:
            place.remove()
            raise
        return CopyJob(copy, place.remove, source.identifier, name, described.options)

    def _definition(self, name: Identifier) -> TableDefinition:
        definition = self._catalogs.get(self._catalogs.resolve(name))
        if not isinstance(definition, TableDefinition):
            raise SqlError(f"{shown(name)} is a view; AS TABLE copies tables", name.position)
        return definition

    def _trigger(self) -> Mapping[str, Any] | None:
        if not self._configuration.is_streaming:
            return {"availableNow": True}
        interval = self._configuration.options.checkpoint_interval_ms
        return None if interval is None else {"processingTime": f"{interval} milliseconds"}


def _added_columns(statement: CreateTable, as_table: AsTable) -> dict[str, str]:
    if statement.columns:
        raise SqlError(
            "a table of AS TABLE has the columns of the other one: declare none, or use AS SELECT", statement.position
        )
    columns = (added_column.column for added_column in as_table.added_columns)
    return {
        column.name: rewrite_expression(column.expression) for column in columns if isinstance(column, ComputedColumn)
    }


def _as_insert(name: Identifier, source: Identifier, added: Mapping[str, str]) -> Insert:
    """Return a statement by which the copy finds its checkpoint again."""
    return Insert(name, SqlText(f"TABLE {shown(source)} {sorted(added.items())}"), position=name.position)


def _parts(name: Identifier) -> tuple[str, str, str]:
    catalog, database, table = name.parts
    return catalog, database, table


def _without_connector(table: TableDescription) -> TableDescription:
    return replace(table, options={name: value for name, value in table.options.items() if name != CONNECTOR})
