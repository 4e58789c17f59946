"""The border between the table environment, which knows tables, and the planner, which knows queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from millrace.contracts import ChangelogMode
from millrace_sql.script_texts import Identifier, SqlText

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

TableLookup = Callable[[Identifier, Mapping[str, str]], "InputTable"]
"""Resolve the name of a table, with its hint's options; raise `SqlError` with the nearest name for an unknown one."""


@dataclass(frozen=True)
class InputColumn:
    """A column that a query can read: physical, metadata or computed.

    Attributes:
        name: Its name.
        type: Its type in Spark.
        nullable: Whether it may be NULL.
        is_event_time: Whether the table's watermark is on it.
        is_physical: Whether it is neither metadata nor computed.
        expression: Of a computed column: its expression, as Spark spells it.
    """

    name: str
    type: DataType
    nullable: bool = True
    is_event_time: bool = False
    is_physical: bool = True
    expression: str | None = None


@dataclass(frozen=True)
class ViewQuery:
    """The query of a view.

    Attributes:
        query: The query.
        columns: New names of its columns; empty when they keep theirs.
        tables: Resolves the names in it, as they were meant where the view was created.
    """

    query: SqlText
    columns: tuple[str, ...]
    tables: TableLookup


class ChangingTable(ABC):
    """A table whose changes since a position can be read."""

    @abstractmethod
    def changes(self, spark: SparkSession, since: str | None) -> DataFrame | None:
        """Return the last change of each key: see `millrace.contracts.TableSource.read_changes`."""

    @abstractmethod
    def changes_end(self, changes: DataFrame, since: str | None) -> tuple[str | None, int]:
        """Return the position after changes: see `millrace.contracts.TableSource.changes_end`."""

    @abstractmethod
    def rows(self, kept_rows: DataFrame) -> DataFrame:
        """Return the table's columns, computed ones too, of rows that were kept as `changes` had them."""


@dataclass(frozen=True)
class InputTable:
    """A table or view that a query reads.

    Attributes:
        identifier: Its whole name: catalog, database and table.
        columns: Its columns, in order; empty for a view, whose columns are those of its query.
        primary_key: The columns of its primary key; empty when it has none.
        changelog_mode: The kinds of rows that its connector reads; meaningless for a view.
        view: Of a view: its query.
        is_bounded: Whether a stream of it ends by itself.
        is_static: Whether streams read it as a batch, as they do a table that is only looked up.
        raw_changelog_mode: The kinds of rows of its messages, if its connector makes others of them by the rows that it
            keeps; None where it does not.
        changing: Reads what has changed since a position; None where all rows must be read.
        origin: What the table environment knows the table by; the planner only hands it back in a `Scan`.
    """

    identifier: Identifier
    columns: tuple[InputColumn, ...]
    primary_key: tuple[str, ...] = ()
    changelog_mode: ChangelogMode = ChangelogMode.INSERT_ONLY
    view: ViewQuery | None = None
    is_bounded: bool = False
    is_static: bool = False
    raw_changelog_mode: ChangelogMode | None = None
    changing: ChangingTable | None = field(default=None, compare=False, repr=False)
    origin: object = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Scan:
    """One use of a table in a query. A table that a query names twice is scanned once for each.

    Attributes:
        view_name: A generated name, unique in the session, under which the query reads the table's rows.
        table: The table, never a view.
        needs_update_before: Whether an operation of the query needs the old rows of updates (``-U``).
        is_lookup: Of a stream: whether it is read as a batch at the beginning of each micro-batch, for a join with the
            table's current rows.
    """

    view_name: str
    table: InputTable
    needs_update_before: bool
    is_lookup: bool = False


class QueryPlan(ABC):
    """A query that was analysed: what it reads, what Spark runs, and what comes out.

    Attributes:
        scans: The tables that it reads.
        sql: What Spark runs, over the generated names of the scans.
        changelog_mode: The kinds of rows of its result.
        changelog_origin: The operation that makes the result a changelog, such as ``GroupAggregate(groupBy=[a])``, for
            the error of a sink that cannot take it; empty when the result is insert-only.
        output_mode: Of a stream: Spark's output mode of its result.
        upsert_key: The columns that identify a row of the result; empty when nothing does.
        lost_key: The columns that would identify a row of the result, if it had them all; empty when there are none.
        has_one_row: Whether the result is one row at most, which changes.
        has_windows: Whether it groups by windows of time, which a stream returns when the watermark has passed them.
        chains_states: Whether one Python function with state reads the results of another one, or is combined with
            them. Spark runs such a stream, but its check of streams refuses it.
    """

    scans: tuple[Scan, ...]
    sql: str
    changelog_mode: ChangelogMode
    changelog_origin: str
    output_mode: Literal["append", "update"]
    upsert_key: tuple[str, ...]
    lost_key: tuple[str, ...]
    has_one_row: bool
    has_windows: bool
    chains_states: bool

    @abstractmethod
    def explain(self) -> str:
        """Return its steps as a tree, the result first, each with its changelog mode."""

    @abstractmethod
    def execute(
        self, spark: SparkSession, read: Callable[[Scan], DataFrame], state_location: str | None = None
    ) -> DataFrame:
        """Return the result, lazily: a stream when the scans are streams.

        A result that is not insert-only has the column `ROW_KIND_COLUMN`, last.

        Args:
            spark: The session.
            read: Reads a scan: the table's columns, computed ones and the watermark included, and `ROW_KIND_COLUMN`
                unless the table is insert-only.
            state_location: Of a stream: a folder of its checkpoint for what the plan keeps between micro-batches.

        Raises:
            SqlError: Spark cannot analyse the query.
        """

    @abstractmethod
    def check(self, spark: SparkSession, stand_in: Callable[[Scan], DataFrame]) -> DataFrame:
        """Check that Spark can run the query, and return its result over rows that stand for those of the tables.

        Args:
            spark: The session.
            stand_in: Returns rows with the columns of a scan, as the ``read`` of `execute` does; batches of all scans
                if `runs_per_batch` is true.

        Raises:
            SqlError: Spark cannot analyse it, or cannot run the stream.
        """

    @property
    def runs_per_batch(self) -> bool:
        """True when stages of a stream must run within each micro-batch, on `apply_to_batch`."""
        return False

    def apply_to_batch(self, rows: DataFrame, batch_id: int) -> DataFrame:
        """Return the result's rows for one micro-batch of what `execute` returned; used when `runs_per_batch` is true.

        Args:
            rows: The micro-batch.
            batch_id: Its number; a repeated micro-batch has the same.
        """
        return rows
