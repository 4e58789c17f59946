"""Read a table of Kafka's connectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql.types import StringType, StructField, StructType

from millrace.configuration import SourceConfig
from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode, ScanContext, TableSource
from millrace.contracts.table_factory import PlannedTableRead
from millrace.errors import OptionsError
from millrace.options.secrets import Properties
from millrace.streams import stream_reader
from millrace_sql.connectors.kafka.data_source_options import KafkaTable, format_metadata, has_upserts, is_changelog
from millrace_sql.connectors.kafka.metadata import MetadataMapping, columns_to_read, metadata_option
from millrace_sql.connectors.rows import column_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


PRIMARY_KEY, STATE_LOCATION = "changelog.primary-key", "state.checkpoints.dir"
FILTER_PUSHDOWN = "scan.filter-pushdown"
FILTER_REPORT = "scan.filter-pushdown.report"


class KafkaTableSource(TableSource):
    """Read of a table with ``'connector' = 'kafka'``.

    Args:
        kafka: The table.

    Raises:
        OptionsError, SchemaError: Its options or its metadata columns are wrong.
    """

    def __init__(self, kafka: KafkaTable) -> None:
        self._kafka = kafka
        self._table = kafka.table
        _, config = kafka.source_config({})
        self._metadata = columns_to_read(kafka.table, format_metadata(config))
        more = self._primary_key_option(config)
        self._options, self._config = kafka.source_config({**metadata_option(self._metadata), **more})
        self._has_row_kinds = kafka.is_upsert or is_changelog(self._config)

    @property
    def options(self) -> Properties:
        """The options of the data source."""
        return self._options

    @property
    def changelog_mode(self) -> ChangelogMode:
        """All kinds of rows from messages that are changes, else insertions."""
        return ChangelogMode.ALL if self._has_row_kinds else ChangelogMode.INSERT_ONLY

    @property
    def raw_changelog_mode(self) -> ChangelogMode | None:
        """All kinds but old rows, of messages that are normalized by the primary key."""
        return ChangelogMode.UPSERT if self._config.options.primary_key else None

    @property
    def is_bounded(self) -> bool:
        """True with ``scan.bounded.mode``."""
        return self._config.bounded is not None

    def read(self, spark: SparkSession, scan: ScanContext) -> DataFrame:
        """Read the topics, a batch to their latest offsets unless ``scan.bounded.mode`` says otherwise.

        A stream keeps the rows of a table in the query's checkpoint.
        """
        reader = stream_reader(spark, scan.source_name) if scan.streaming else spark.read
        options, schema = self.planned_read(scan)
        return self._declared(reader.format("millrace").options(**options).schema(schema).load())

    def planned_read(self, scan: ScanContext) -> PlannedTableRead:
        """Return options and columns of the read."""
        more: dict[str, str] = {}
        is_pushed = scan.reads_once and self._wants_filters
        if is_pushed != self._config.options.filter_pushdown:
            more[FILTER_PUSHDOWN] = "true" if is_pushed else "false"
        if is_pushed and scan.filter_report is not None:
            more[FILTER_REPORT] = scan.filter_report
        keeps_state = scan.streaming and self.raw_changelog_mode is not None
        if keeps_state and scan.state_location is not None and self._kafka.option(STATE_LOCATION) is None:
            more[STATE_LOCATION] = scan.state_location
        return PlannedTableRead(Properties({**self._options, **more}), self._schema())

    @property
    def _wants_filters(self) -> bool:
        """True when filters on metadata may tell which offsets a query needs; changes of rows need all of them."""
        if self._kafka.option(FILTER_PUSHDOWN) is not None:
            return self._config.options.filter_pushdown
        return not self._has_row_kinds and any(not mapping.is_cast for mapping in self._metadata)

    def _primary_key_option(self, config: SourceConfig) -> Mapping[str, str]:
        """Return the option by which changes are normalized, where the session or the format asks for it.

        Raises:
            OptionsError: The table has no primary key.
        """
        if self._kafka.is_upsert or not is_changelog(config):
            return {}
        upserts = has_upserts(config)
        if not self._table.cdc_events_duplicate and not upserts:
            return {}
        if not self._table.primary_key and upserts:
            raise OptionsError(
                f"table {self._table.name!r}",
                (
                    "option 'updates-without-old-row' = 'upsert' of the format requires a primary key, by which old "
                    "rows are found: declare PRIMARY KEY (id) NOT ENFORCED, or leave the option out",
                ),
            )
        if not self._table.primary_key:
            raise OptionsError(
                f"table {self._table.name!r}",
                (
                    "'table.exec.source.cdc-events-duplicate' = 'true' requires a primary key, by which repeated "
                    "events are found: declare PRIMARY KEY (id) NOT ENFORCED, or RESET the setting",
                ),
            )
        names = {column.name.lower(): column.name for column in self._table.physical_columns}
        names |= {mapping.column.name.lower(): mapping.alias for mapping in self._metadata}
        return {PRIMARY_KEY: ";".join(names[name.lower()] for name in self._table.primary_key)}

    def _schema(self) -> StructType:
        physical = [StructField(column.name, column.type, column.nullable) for column in self._table.physical_columns]
        metadata = [_field(mapping) for mapping in self._metadata]
        kinds = [StructField(ROW_KIND_COLUMN, StringType())] if self._has_row_kinds else []
        return StructType([*physical, *metadata, *kinds])

    def _declared(self, rows: DataFrame) -> DataFrame:
        """Bring metadata columns to their declared names and types, where the data source has others."""
        if all(not mapping.is_cast and mapping.alias == mapping.column.name for mapping in self._metadata):
            return rows
        aliases = {mapping.alias: mapping for mapping in self._metadata}
        return rows.select(*(aliases[name].read() if name in aliases else column_of(name) for name in rows.columns))


def _field(mapping: MetadataMapping) -> StructField:
    return StructField(mapping.alias, mapping.type, mapping.is_cast or mapping.column.nullable)
