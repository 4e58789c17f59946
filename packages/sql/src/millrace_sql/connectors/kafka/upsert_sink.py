"""Write a table of connector upsert-kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.contracts import ChangelogMode
from millrace_sql.connectors.kafka.sink import KafkaTableSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class UpsertKafkaSink(KafkaTableSink):
    """Write of a table with ``'connector' = 'upsert-kafka'``: the latest rows of keys, and deletions of keys.

    Args:
        kafka: The table.

    Raises:
        OptionsError, SchemaError: Its options or its metadata columns are wrong.
    """

    @property
    def changelog_mode(self) -> ChangelogMode:
        """All kinds but the old rows of updates, which are not written."""
        return ChangelogMode.UPSERT

    @property
    def needs_update_before(self) -> bool:
        """False: a new row replaces that of its key."""
        return False

    def _divided(self, rows: DataFrame) -> DataFrame:
        """Let one task write all changes of a key, in order."""
        from millrace import repartition_by_key

        return repartition_by_key(rows, self._key_columns, tasks=self._parallelism)
