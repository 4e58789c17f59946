"""The connector jdbc: a table of a database, through Spark's own JDBC source."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Gt

from millrace.contracts import (
    ScanContext,
    SinkContext,
    TableColumn,
    TableDescription,
    TableFactory,
    TableSink,
    TableSource,
)
from millrace.errors import MachineError, OptionsError
from millrace.options import option
from millrace.options.secrets import Properties
from millrace.options.values import parse_duration_ms
from millrace_sql.connectors.rows import as_declared, physical_rows, refuse_metadata

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = logging.getLogger("millrace.sql")

_NO_DRIVER = ("No suitable driver", "ClassNotFoundException")


@dataclass(frozen=True)
class JdbcOptions:
    """Options of a table of a database."""

    url: str = option("url", is_hidden=True, doc="The JDBC URL of the database, such as jdbc:postgresql://host/db.")
    table_name: str = option("table-name", doc="The name of the table in the database.")
    username: str | None = option("username", default=None, doc="The name of the database user.")
    password: str | None = option("password", default=None, doc="The user's password.")
    driver: str | None = option(
        "driver", default=None, doc="The class of the JDBC driver. By default, the one that accepts the URL."
    )
    properties: tuple[tuple[str, str], ...] = option("properties.*", default=(), doc="Any property of the JDBC driver.")
    partition_column: str | None = option(
        "scan.partition.column",
        default=None,
        doc="A numeric, date or timestamp column by which reads are divided into tasks. Requires the next three "
        "options.",
    )
    partition_number: Annotated[int, Gt(0)] | None = option(
        "scan.partition.num", default=None, doc="The number of tasks that read."
    )
    lower_bound: str | None = option(
        "scan.partition.lower-bound", default=None, doc="The smallest value of the column, for dividing reads."
    )
    upper_bound: str | None = option(
        "scan.partition.upper-bound", default=None, doc="The largest value of the column, for dividing reads."
    )
    fetch_size: Annotated[int, Ge(0)] = option(
        "scan.fetch-size",
        default=0,
        doc="The number of rows that the driver fetches at a time; 0 lets the driver decide.",
    )
    timeout_ms: Annotated[int, Ge(0)] | None = option(
        "connection.max-retry-timeout",
        default=None,
        parse=parse_duration_ms,
        doc="The maximum duration of a statement, in whole seconds. Unlimited by default.",
    )
    batch_rows: Annotated[int, Gt(0)] = option(
        "sink.buffer-flush.max-rows", default=1000, doc="The number of rows that one statement inserts."
    )
    parallelism: Annotated[int, Gt(0)] | None = option(
        "sink.parallelism", default=None, doc="The number of tasks that write, each in its own connection."
    )
    lookup: tuple[tuple[str, str], ...] = option(
        "lookup.*",
        default=(),
        doc="Options of Flink's cache of lookups. They have no effect: a join reads the table in each micro-batch.",
    )

    def spark_options(self) -> Properties:
        """Return the options of Spark's format jdbc."""
        options = {
            "url": self.url,
            "dbtable": self.table_name,
            "user": self.username,
            "password": self.password,
            "driver": self.driver,
            "partitionColumn": self.partition_column,
            "numPartitions": self.partition_number,
            "lowerBound": self.lower_bound,
            "upperBound": self.upper_bound,
            "fetchsize": self.fetch_size or None,
            "queryTimeout": None if self.timeout_ms is None else -(-self.timeout_ms // 1000),
        }
        return Properties(
            {**dict(self.properties), **{name: str(value) for name, value in options.items() if value is not None}}
        )


class JdbcTableSource(TableSource):
    """Read of a table of a database.

    A stream that is joined with it reads it again in each micro-batch: rows see it as it is then.

    Args:
        table: The table.
        options: Its options.
    """

    def __init__(self, table: TableDescription, options: JdbcOptions) -> None:
        refuse_metadata(table, "jdbc")
        self._table = table
        self._options = options

    @property
    def is_bounded(self) -> bool:
        """True: it has the rows that are there."""
        return True

    @property
    def is_static(self) -> bool:
        """True: a stream reads it again in each micro-batch."""
        return True

    def read(self, spark: SparkSession, scan: ScanContext) -> DataFrame:
        """Read the table, as a batch in any case."""
        return as_declared(_load(self._table, self._options, spark), self._table)


class JdbcTableSink(TableSink):
    """Write of rows that are inserted into a table of a database.

    Args:
        table: The table.
        options: Its options.
    """

    def __init__(self, table: TableDescription, options: JdbcOptions) -> None:
        refuse_metadata(table, "jdbc")
        self._table = table
        self._options = options

    def write(self, rows: DataFrame, sink: SinkContext) -> None:
        """Insert the rows; INSERT OVERWRITE empties the table before."""
        rows = physical_rows(rows, self._table)
        if self._options.parallelism is not None:
            rows = rows.repartition(self._options.parallelism)
        writer = rows.write.format("jdbc").options(**self._options.spark_options())
        writer = writer.option("batchsize", str(self._options.batch_rows)).option("truncate", "true")
        try:
            writer.mode("overwrite" if sink.overwrite else "append").save()
        except Exception as error:
            _explain_missing_driver(error, self._table)
            raise


class JdbcTableFactory(TableFactory):
    """Tables with ``'connector' = 'jdbc'``."""

    TableOptions = JdbcOptions

    def check(self, table: TableDescription) -> None:
        """Check options and columns: see `TableFactory.check`."""
        self.sink(table)

    def infer_columns(self, table: TableDescription, spark: SparkSession) -> tuple[TableColumn, ...]:
        """Ask the database for its columns."""
        declared = {column.name for column in table.columns}
        schema = _load(table, self._parse(table), spark).schema
        columns = [TableColumn(field.name, field.dataType, field.nullable) for field in schema]
        return (*table.columns, *(column for column in columns if column.name not in declared))

    def source(self, table: TableDescription) -> JdbcTableSource:
        """Return a reader of the table."""
        return JdbcTableSource(table, self._parse(table))

    def sink(self, table: TableDescription) -> JdbcTableSink:
        """Return a writer of the table."""
        return JdbcTableSink(table, self._parse(table))

    def _parse(self, table: TableDescription) -> JdbcOptions:
        options: JdbcOptions = self.parse_options(table)
        if options.lookup:
            logger.warning(
                "table %r: the options lookup.* have no effect: a join reads the rows of the table in each micro-batch",
                table.name,
            )
        division = {
            "scan.partition.column": options.partition_column,
            "scan.partition.num": options.partition_number,
            "scan.partition.lower-bound": options.lower_bound,
            "scan.partition.upper-bound": options.upper_bound,
        }
        missing = [name for name, value in division.items() if value is None]
        if missing and len(missing) < len(division):
            problem = (
                f"options {', '.join(map(repr, division))} belong together; give {', '.join(map(repr, missing))} too"
            )
            raise OptionsError(f"table {table.name!r}", (problem,))
        return options


def _load(table: TableDescription, options: JdbcOptions, spark: SparkSession) -> DataFrame:
    try:
        return spark.read.format("jdbc").options(**options.spark_options()).load()
    except Exception as error:
        _explain_missing_driver(error, table)
        raise


def _explain_missing_driver(error: Exception, table: TableDescription) -> None:
    if any(text in str(error) for text in _NO_DRIVER):
        raise MachineError(
            f"table {table.name!r}: the session has no JDBC driver for its URL: give the driver's package when the "
            f"session starts, such as spark.jars.packages = org.postgresql:postgresql:42.7.8, or its class by option "
            f"'driver'"
        ) from None
