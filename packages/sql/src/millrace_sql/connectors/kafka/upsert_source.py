"""Read a table of connector upsert-kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from millrace.contracts import ChangelogMode
from millrace_sql.connectors.kafka.source import KafkaTableSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PARTITION, _OFFSET = "__partition", "__offset"


class UpsertKafkaSource(KafkaTableSource):
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

    @property
    def raw_changelog_mode(self) -> ChangelogMode:
        """New rows and deletions, as messages have them."""
        return ChangelogMode(frozenset({"+U", "-D"}))

    def read_changes(self, spark: SparkSession, since: str | None) -> DataFrame:
        """Read the last message of each key from some offsets on; partitions without one are read whole."""
        metadata = [self._options.get("metadata.columns"), f"partition AS {_PARTITION}", f"offset AS {_OFFSET}"]
        options = {
            **self._options,
            "changelog.mode": "upsert",
            "metadata.columns": ", ".join(entry for entry in metadata if entry),
        }
        if since is not None:
            options["scan.startup.mode"] = "specific-offsets"
            options["scan.startup.specific-offsets"] = since
            options["scan.startup.specific-offsets.others"] = "earliest"
        keys = {name.lower() for name in self._table.primary_key}
        fields = [
            # Deleted rows have the columns of their key only
            StructField(field.name, field.dataType, field.nullable or field.name.lower() not in keys)
            for field in self._schema()
        ]
        schema = StructType([*fields, StructField(_PARTITION, IntegerType()), StructField(_OFFSET, LongType())])
        return self._declared(spark.read.format("millrace").options(**options).schema(schema).load())

    def changes_end(self, changes: DataFrame, since: str | None) -> tuple[str | None, int]:
        """Return the offsets after the last messages that were read."""
        from pyspark.sql import functions as fn

        rows = changes.groupBy(_PARTITION).agg(fn.max(_OFFSET), fn.count("*")).collect()
        ends = dict(part.split(",") for part in since.split(";")) if since else {}
        ends |= {f"partition:{partition}": f"offset:{last + 1}" for partition, last, _ in rows}
        position = ";".join(f"{partition},{offset}" for partition, offset in sorted(ends.items()))
        return position or None, sum(count for *_, count in rows)
