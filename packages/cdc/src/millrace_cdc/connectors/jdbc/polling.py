"""A stream of the rows of tables that have changed, as messages."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

from millrace.errors import OptionsError
from millrace.streams import stream_reader
from millrace_cdc.connectors.jdbc.positions import TablePosition, digest
from millrace_cdc.connectors.jdbc.reading import DatabaseReader, Login, SourceTable, table_reader
from millrace_cdc.connectors.values.stream import MESSAGE_SCHEMA
from millrace_cdc.routing.patterns import RoutePattern
from millrace_cdc.rows.change_encoding import encode_change
from millrace_cdc.table_id import table_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Offset = dict[str, Any]
"""By id of a table its position, as `TablePosition.to_json` writes it."""


@dataclass(frozen=True)
class PollingSettings:
    """Settings of such a stream; plain data that travels to executors.

    Attributes:
        login: The way to the database.
        tables: The pattern of the tables' ids.
        column: The column that grows; None for all rows once.
        mode: What the first start reads.
        interval_s: The time between two looks.
    """

    login: Login
    tables: str
    column: str | None
    mode: Literal["initial", "latest-offset", "snapshot"]
    interval_s: float


def found_tables(settings: PollingSettings) -> list[SourceTable]:
    """Look up the tables of a source.

    Raises:
        OptionsError: There is none, or one lacks the column that grows.
        TableSinkError: The database cannot be asked.
    """
    with table_reader(settings.login) as reader:
        tables = _tables(reader, settings)
    if not tables:
        raise OptionsError("source", (f"option 'tables': {settings.login!r} has no table {settings.tables!r}",))
    for table in tables:
        if settings.column is not None and settings.column not in table.schema.types:
            names = ", ".join(table.schema.names)
            raise OptionsError(
                "source",
                (f"option 'scan.incremental.column': table {table.id} has no column {settings.column!r}, but {names}",),
            )
    return tables


def _tables(reader: DatabaseReader, settings: PollingSettings) -> list[SourceTable]:
    pattern = RoutePattern(settings.tables)
    names = [name for name in reader.names() if pattern.match(table_id(name))]
    return [table for name in names if (table := reader.table(name)) is not None]


def read_changes(spark: SparkSession, settings: PollingSettings) -> DataFrame:
    """Return a stream of messages."""
    polling_settings = settings

    class JdbcSource(JdbcDataSource):
        settings = polling_settings

    spark.dataSource.register(JdbcSource)
    return stream_reader(spark, "tables").format(JdbcSource.name()).load()


class JdbcDataSource(DataSource):
    """A source of messages; a subclass has its settings."""

    settings: ClassVar[PollingSettings]

    @classmethod
    def name(cls) -> str:
        """Return the name of the source."""
        return "millrace-jdbc"

    def schema(self) -> str:
        """Return the columns of messages."""
        return MESSAGE_SCHEMA

    def streamReader(self, schema: StructType) -> JdbcStreamReader:  # noqa: N802 - Spark's name
        """Make a reader."""
        return JdbcStreamReader(self.settings)


class _ChangedRows(InputPartition):
    def __init__(self, table: str, start: list[Any] | None, end: list[Any]) -> None:
        super().__init__(table)
        self.table, self.start, self.end = table, start, end


class JdbcStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reader of the rows that have changed between two looks at the database.

    Args:
        settings: The settings.
    """

    def __init__(self, settings: PollingSettings) -> None:
        self._settings = settings
        self._next_look = 0.0
        self._last: Offset | None = None

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Read no further than the rows that there are now."""
        self._last = self._look({})

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        """Return the position before all rows, or behind those that are there."""
        if self._settings.mode != "latest-offset":
            return {}
        return self._look({}) if self._last is None else self._last

    def latestOffset(self, start: Offset, limit: Any) -> Offset:  # noqa: N802 - Spark's name
        """Return the position behind all rows that are there; ``start`` before it is time to look again."""
        if self._last is not None:
            return start | self._last
        if time.monotonic() < self._next_look:
            return start
        self._next_look = time.monotonic() + self._settings.interval_s
        return self._look(start)

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """Return the tables that have changed."""
        return [
            _ChangedRows(table, start.get(table), end[table]) for table in sorted(end) if end[table] != start.get(table)
        ]

    def read(self, partition: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table that have changed, as messages."""
        with table_reader(self._settings.login) as reader:
            yield from self._messages(reader, partition)

    def _look(self, start: Offset) -> Offset:
        with table_reader(self._settings.login) as reader:
            positions = {table.id: self._position(reader, table) for table in _tables(reader, self._settings)}
        return start | {table: position for table, position in positions.items() if position is not None}

    def _position(self, reader: DatabaseReader, table: SourceTable) -> list[Any] | None:
        column = self._settings.column
        if column is None or self._settings.mode == "snapshot":
            return TablePosition().to_json()
        value = reader.newest(table, column)
        if value is None:
            return None
        rows = (row for _, row in reader.rows(table, column, value, value))
        return TablePosition.of(value, rows).to_json()

    def _messages(self, reader: DatabaseReader, part: _ChangedRows) -> Iterator[tuple[Any, ...]]:
        table = reader.table(part.table)
        if table is None:
            return
        columns, key = str(table.schema), table.primary_key or None
        rows = self._rows(reader, table, TablePosition.from_json(part.start), TablePosition.from_json(part.end))
        for number, row in enumerate(rows):
            value = encode_change(table.id, "c", None, row, columns=columns, primary_key=key)
            yield table.id, 0, number, None, None, value

    def _rows(
        self, reader: DatabaseReader, table: SourceTable, start: TablePosition, end: TablePosition
    ) -> Iterator[Mapping[str, Any]]:
        column = self._settings.column if end.value is not None else None
        # Of many rows with the first value all are read again if there are others than before
        skips_first = (
            column is not None
            and not start.knows_rows
            and _same(start, TablePosition.of(start.value, _at(reader, table, column, start.value)))
        )
        for value, row in reader.rows(table, column, start.value, end.value):
            if start.value is not None and value == start.value and (skips_first or digest(row) in start.rows):
                continue
            # A row that got the last value since the look comes with the next one
            if column is not None and value == end.value and end.knows_rows and digest(row) not in end.rows:
                continue
            yield row


def _at(reader: DatabaseReader, table: SourceTable, column: str, value: Any) -> Iterator[Mapping[str, Any]]:
    return (row for _, row in reader.rows(table, column, value, value))


def _same(one: TablePosition, other: TablePosition) -> bool:
    return (one.count, one.total) == (other.count, other.total)
