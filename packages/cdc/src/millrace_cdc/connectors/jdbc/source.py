"""Databases as a source of pipelines: all rows, then those that have changed, by a column that grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from millrace.contracts import OptionProblem
from millrace.errors import OptionsError
from millrace_catalog.types import Schema
from millrace_cdc.connectors.jdbc.reading import Login, dialect_name
from millrace_cdc.connectors.jdbc.source_options import JdbcSourceOptions
from millrace_cdc.connectors.row_source import RowSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from millrace_cdc.connectors.jdbc.polling import PollingSettings


class JdbcPipelineSource(RowSource):
    """Rows of tables of PostgreSQL or SQLite; deletions are not seen."""

    Options = JdbcSourceOptions
    options: JdbcSourceOptions
    schema_origin: ClassVar[Literal["file", "database"]] = "database"

    @property
    def initial_schemas(self) -> Mapping[str, tuple[Schema, tuple[str, ...]]]:
        """The tables that the database has."""
        from millrace_cdc.connectors.jdbc.polling import found_tables

        return {table.id: (table.schema, table.primary_key) for table in found_tables(self._settings)}

    def read(self, spark: SparkSession) -> DataFrame:
        """Return a stream of its messages: see `MessageSource.read`."""
        from millrace_cdc.connectors.jdbc.polling import read_changes

        return read_changes(spark, self._settings)

    def problems(self) -> Iterator[OptionProblem]:
        """Yield options that do not go together."""
        options = self.options
        try:
            dialect_name(options.url)
        except OptionsError as error:
            yield OptionProblem("url", error.problems[0])
        if (options.column is None) != (options.startup_mode == "snapshot"):
            yield OptionProblem(
                "scan.incremental.column",
                "'scan.incremental.column' shows which rows have changed: give it, or 'scan.startup.mode: snapshot' to "
                "read all rows once",
            )

    @property
    def _settings(self) -> PollingSettings:
        from millrace_cdc.connectors.jdbc.polling import PollingSettings

        options = self.options
        login = Login(options.url, options.username, options.password)
        interval_s = options.poll_interval_ms / 1000
        return PollingSettings(login, options.tables, options.column, options.startup_mode, interval_s)
