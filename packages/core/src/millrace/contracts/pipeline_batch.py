"""Schema changes and micro-batches, as sinks of pipelines get them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

SchemaChangeType = Literal[
    "create.table",
    "add.column",
    "alter.column.type",
    "drop.column",
    "rename.column",
    "truncate.table",
    "drop.table",
]
"""Type of a schema change, named as in the reference's ``include.schema.changes``."""

SCHEMA_CHANGES: tuple[SchemaChangeType, ...] = get_args(SchemaChangeType)
"""All of them."""

CHANGE_BATCH_COLUMNS = (
    "table STRING, operation STRING, before BINARY, after BINARY, topic STRING, partition INT, offset BIGINT, "
    "timestamp TIMESTAMP, kept ARRAY<STRING>"
)
"""The columns of `ChangeBatch.changes`."""


@dataclass(frozen=True)
class PipelineTable:
    """A table of a sink.

    Attributes:
        id: Its id, one to three names joined by ``.``; those with a dot stand between backticks: see
            `millrace.table_names.split_names`.
        schema: Its columns. A column of CHAR or VARCHAR is a string whose metadata have its type and length, as in the
            schemas of Spark's own tables: ``{"__CHAR_VARCHAR_TYPE_STRING": "varchar(10)"}``.
        primary_key: The columns of its primary key; empty when it has none.
        partition_keys: The columns that divide it into partitions.
        options: Options for its creation.
    """

    id: str
    schema: StructType
    primary_key: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PipelineSchemaChange:
    """A schema change of one table.

    Attributes:
        type: Its type.
        table: The table after it.
        columns: The columns that are new, or whose types change; empty for the creation of a table.
        version: Its number among the changes of the table, from 1.
    """

    type: SchemaChangeType
    table: PipelineTable
    columns: tuple[str, ...]
    version: int


class ChangeBatch(ABC):
    """The changes of a micro-batch, of all tables.

    Attributes:
        pipeline: The id of the pipeline: that of its streaming query, which the checkpoint keeps.
        id: The number of the micro-batch: repeated ones have the same, and the same changes.
        tables: The tables that have changes, by id, with the columns that all rows have.
        row_counts: The number of changes of each of them; fewer, where a filter drops some.
        truncated: The ids of those that lose all rows of earlier micro-batches, together with the changes of this one;
            only where the sink can apply ``truncate.table``.
        partial: The ids of those with updates that keep values: see `map`.
    """

    pipeline: str
    id: int
    tables: Mapping[str, PipelineTable]
    row_counts: Mapping[str, int]
    truncated: frozenset[str] = frozenset()
    partial: frozenset[str] = frozenset()

    @property
    @abstractmethod
    def spark(self) -> SparkSession:
        """The session of the micro-batch."""

    def note_written(self, table: str) -> None:  # noqa: B027 (progress need not be reported)
        """Note for the progress of the pipeline that a table has the micro-batch; from any thread of the driver."""

    @abstractmethod
    def map(self, function: Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]], columns: str) -> DataFrame:
        """Map the changes of all tables on the executors.

        Args:
            function: From batches with the columns of `CHANGE_BATCH_COLUMNS` to others. ``operation`` is ``c``, ``u``
                or ``d`` for an insertion, update or deletion; ``before`` and ``after`` are rows as JSON objects with
                all columns of their table, in order: booleans and numbers as such, a DECIMAL with all of its digits,
                times as texts, bytes in base64; NULL where the operation has no such row. Changes of a partition are in
                the order of their offsets. Where the sink's capabilities have ``upserts``, ``before`` is also NULL for
                updates whose old row is not known; where they have ``keeps_values``, ``kept`` has the names of columns
                that an update leaves as they were, whose values are not known and null in ``after``; else it is NULL.
            columns: The result's columns, as Spark SQL.
        """

    @abstractmethod
    def rows(self, table: str) -> DataFrame:
        """Return the changes of one table, with typed rows.

        Its columns are ``operation``, ``before`` and ``after``, structs of the table's columns, ``topic``,
        ``partition``, ``offset`` and ``timestamp`` of the message, and ``kept`` as of `map`.
        """
