"""Sources and sinks of change-data pipelines, named by ``type`` in a pipeline's YAML."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from millrace.contracts.pipeline_batch import (
    SCHEMA_CHANGES,
    ChangeBatch,
    PipelineSchemaChange,
    PipelineTable,
    SchemaChangeType,
)
from millrace.contracts.plugin import Plugin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

Guarantee = Literal["at-least-once", "exactly-once"]


class OptionProblem(NamedTuple):
    """Options that do not go together.

    Attributes:
        option: The name of the one to change.
        sentence: The problem, and what to do.
    """

    option: str
    sentence: str


@dataclass(frozen=True)
class SinkCapabilities:
    """Abilities of a sink, as its options are.

    Attributes:
        schema_changes: The types of schema changes that it can apply to its tables.
        guarantee: How often a change is in its tables after a failure: once or more, or exactly once.
        upserts: Whether it takes updates without their old row; it refuses those of a table without primary key, if it
            needs one for them.
        upsert_advice: Where it does not, what to do for it, such as an option to set; empty where nothing helps.
        keeps_values: Whether it keeps the values of columns that an update leaves as they were and does not have: see
            `ChangeBatch.map`.
    """

    schema_changes: frozenset[SchemaChangeType]
    guarantee: Guarantee = "at-least-once"
    upserts: bool = False
    upsert_advice: str = ""
    keeps_values: bool = False

    ALL_CHANGES: ClassVar[frozenset[SchemaChangeType]] = frozenset(SCHEMA_CHANGES)
    """Every type of schema change."""


@dataclass(frozen=True)
class PipelineDestination:
    """The destination of the rows of a sink's table, for a plan.

    Attributes:
        table: The table's id.
        kind: What it is, such as ``topic`` or ``table``.
        name: Its name in the sink's system.
        exists: Whether it is there already; None where that is not known.
        problem: Why the table cannot be written to it, and what to do; None where nothing is known against it.
    """

    table: str
    kind: str
    name: str
    exists: bool | None = None
    problem: str | None = None


class _PipelineEnd(Plugin):
    def problems(self) -> Iterable[OptionProblem]:
        """Return options that do not go together; each option by itself is valid.

        It asks nothing of the outside world, so that a file can be checked anywhere. By default all go together.
        """
        return ()


SOURCE_COLUMNS = (
    "table STRING, operation STRING, before STRING, after STRING, topic STRING, partition INT, offset BIGINT, "
    "timestamp TIMESTAMP"
)
"""The columns of the stream of a `ChangeSource`."""


class PipelineSource(_PipelineEnd):
    """Kind of the plugins that read the changes of tables: subclass `ChangeSource`.

    ``Options`` declares the keys of ``source:`` in a pipeline's YAML, without ``type`` and ``name``. Options whose
    names end in ``.*`` take all keys that begin so.
    """


class ChangeSource(PipelineSource, ABC):
    """Base of the sources of pipelines whose stream has changes as rows."""

    @abstractmethod
    def read(self, spark: SparkSession) -> DataFrame:
        """Return a stream of changes; on the driver, when a run starts.

        It has the columns of `SOURCE_COLUMNS`:

        - ``table`` is the table's id, one to three names joined by ``.``.
        - ``operation`` is ``c``, ``u`` or ``d`` for an insertion, update or deletion; ``before`` and ``after`` are the
          rows, as JSON objects, and NULL where the operation has no such row. Times are texts, and bytes base64.
        - ``topic``, ``partition`` and ``offset`` are the place of the change, such as the names of a file and the
          number of a line. Offsets of a place grow, and a task has the changes of a partition in their order.
        - ``timestamp`` is the time of the change; NULL where it is not known.

        A repeated micro-batch has the same changes, as those of Spark's own sources.

        Args:
            spark: The session of the pipeline.

        Raises:
            MillraceError: The source's system cannot be reached, or does not have what the options name.
        """

    def tables(self) -> Iterable[PipelineTable]:
        """Return tables whose columns and primary keys are known before their first change; none by default.

        Those of the other tables are inferred from their rows. It is called on the driver, without a session, for runs
        and plans.

        Raises:
            MillraceError: The source's system cannot be reached.
        """
        return ()


class PipelineSink(_PipelineEnd, ABC):
    """Base of the plugins that write the changes of tables.

    ``Options`` declares the keys of ``sink:`` in a pipeline's YAML, without ``type``, ``name``,
    ``include.schema.changes`` and ``exclude.schema.changes``.

    Attributes:
        distinguishes_case: Whether a table may have columns whose names differ only in case, which most systems, and
            Spark, take for the same.
    """

    distinguishes_case: ClassVar[bool] = False

    @property
    @abstractmethod
    def capabilities(self) -> SinkCapabilities:
        """Abilities of the sink, as its options are."""

    def check(self, spark: SparkSession) -> None:
        """Check that a session has what the sink needs, such as a driver; on the driver, before the query starts.

        Raises:
            MillraceError: It lacks something.
        """

    def dataset(self, table: str) -> tuple[str, str] | None:
        """Name what a table of the sink is by OpenLineage's rules: a namespace and a name; on the driver.

        By default nothing is known of it, and lineage leaves it out.
        """
        return None

    def can_widen(self, before: DataType, after: DataType) -> bool:
        """Return whether a column of one type can become one of another, wider type; on the driver.

        It is asked where `capabilities` have ``alter.column.type``. By default every type can.
        """
        return True

    def destinations(
        self, session: Callable[[], SparkSession], tables: Sequence[PipelineTable]
    ) -> Iterable[PipelineDestination]:
        """Return what tables will be written to, for a plan; nothing is changed. By default the table of their id.

        Args:
            session: Returns a session, and starts one where there is none.
            tables: The tables.

        Raises:
            MillraceError: The sink's system cannot be asked.
        """
        return tuple(PipelineDestination(table.id, "table", table.id) for table in tables)

    @abstractmethod
    def apply(self, spark: SparkSession, changes: Sequence[PipelineSchemaChange]) -> None:
        """Apply schema changes to the sink's tables, before rows that need them; on the driver.

        A change may come again, with the micro-batch that it belongs to, also after it was applied: tables that are
        there, columns that a table has and types that are as wide stay as they are.

        Args:
            spark: The session.
            changes: The changes, those of each table in order.

        Raises:
            MillraceError: One cannot be applied. With `failed_table`, only that table is to blame: where the user wants
                tables to be paused, the others' changes come again. With `is_transient`, all come again after a while.
        """

    @abstractmethod
    def write(self, batch: ChangeBatch) -> None:
        """Write the changes of a micro-batch; on the driver. With few jobs: a pipeline has thousands of tables.

        A micro-batch may come again, with the same number and changes, also after it was written.

        Raises:
            MillraceError: It cannot be written. With `failed_table`, only that table is to blame: where the user wants
                tables to be paused, the micro-batch comes again without it. With `is_transient`, all of it comes again
                after a while.
        """
