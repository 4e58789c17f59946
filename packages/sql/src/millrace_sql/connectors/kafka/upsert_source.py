"""Read a table of connector upsert-kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.contracts import ChangelogMode, ScanContext
from millrace_sql.connectors.kafka.source import KafkaSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_STATE = "state.checkpoints.dir"


class UpsertKafkaSource(KafkaSource):
    """Read of a table with ``'connector' = 'upsert-kafka'``: a stream of all changes, or its latest rows as a batch.

    Args:
        kafka: The table.

    Raises:
        OptionsError, SchemaError: Its options or its metadata columns are wrong.
    """

    @property
    def changelog_mode(self) -> ChangelogMode:
        """All kinds of rows."""
        return ChangelogMode.ALL

    def read(self, spark: SparkSession, scan: ScanContext) -> DataFrame:
        """Read the table, with its rows before each change in the query's checkpoint."""
        if not scan.streaming or scan.state_location is None or self._kafka.given(_STATE) is not None:
            return self._read(spark, scan, self._options)
        return self._read(spark, scan, {**self._options, _STATE: scan.state_location})
