"""Plan the splits of a batch and read them, for Spark's readers and for `millrace.read_arrow`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from millrace.configuration import SourceConfig
from millrace.source.splits import Split
from millrace.spark.schema import arrow_schema, check_declared_columns
from millrace.worker import RESOURCES, WorkerResources

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from millrace.source.enumerator.conditions import Condition
    from millrace.source.reader.error_policy import ErrorPolicy
    from millrace.source.reader.split_metrics import SplitMetrics


def batch_splits(config: SourceConfig, conditions: Sequence[Condition] = ()) -> list[Split]:
    """Plan the splits of a batch, from its starting to its stopping offsets, as they are now.

    Args:
        config: How to read.
        conditions: What all records that are needed fulfil; others may be left out.

    Raises:
        UnreachableError, UnknownTopicError, ClientError: There is no such topic, or the brokers did not answer.
        OptionsError: The Kafka client does not accept its properties.
    """
    from millrace.kafka.admin import admin_for
    from millrace.source.enumerator.planner import Planner
    from millrace.source.enumerator.preflight import check_dead_letter_topics

    check_dead_letter_topics(config)
    # Spark plans one read after the other in the same process
    return Planner.connect(config, admin_for(config.client)).batch_splits(conditions)


@dataclass(frozen=True)
class SplitReader:
    """Reads splits, in any process.

    Attributes:
        config: How to read.
        columns: The columns of the result, as Spark's.
        schema: The same as Arrow's.
    """

    config: SourceConfig
    columns: StructType
    schema: pa.Schema

    @classmethod
    def checked(cls, config: SourceConfig, columns: StructType) -> SplitReader:
        """Return a reader if the options can give the columns.

        Raises:
            SchemaError: They cannot.
        """
        from millrace.source.reader.decoding_plan import check_table_columns, record_batch_builder_for

        schema = arrow_schema(columns)
        check_declared_columns(config, schema)
        record_batch_builder_for(config, schema)
        check_table_columns(config, schema)
        return cls(config, columns, schema)

    def error_policy(
        self,
        metrics: SplitMetrics,
        resources: WorkerResources = RESOURCES,
        before_end: Callable[[ErrorPolicy], None] | None = None,
    ) -> ErrorPolicy:
        """Return what handles the malformed messages of one split: see `ErrorPolicy`.

        Raises:
            PluginError: This process cannot use the dead letter collector.
        """
        from millrace.source.reader.dead_letters import collector_for
        from millrace.source.reader.error_policy import ErrorPolicy

        return ErrorPolicy(self.config.options, metrics, collector_for(self.config, resources), before_end)

    def read(
        self,
        split: Split,
        zone: str,
        metrics: SplitMetrics,
        error_policy: ErrorPolicy,
        resources: WorkerResources = RESOURCES,
    ) -> Generator[pa.RecordBatch]:
        """Yield the rows of a split: see `millrace.source.reader.pipeline.read_split`."""
        from millrace.source.reader.pipeline import read_split
        from millrace.spark.time_precision import batch_truncation

        truncate = batch_truncation(self.columns)
        batches = read_split(self.config, self.schema, zone, split, metrics, error_policy, resources)
        with closing(batches):
            yield from batches if truncate is None else map(truncate, batches)
