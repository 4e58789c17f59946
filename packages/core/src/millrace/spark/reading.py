"""What batch and streaming reads have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql.datasource import InputPartition

from millrace.configuration import SourceConfig
from millrace.monitoring.report import Address, Report
from millrace.source.enumerator.splits import Split
from millrace.spark.errors import user_errors
from millrace.spark.gc_control import exempt_what_is_loaded
from millrace.spark.schema import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from millrace.source.reader.error_policy import ErrorPolicy
    from millrace.source.reader.split_metrics import SplitMetrics


class Reading:
    """Reads splits on executors; made on the driver, where the schema is checked.

    Args:
        config: How to read.
        schema: The columns of the result.
    """

    def __init__(self, config: SourceConfig, schema: StructType) -> None:
        from millrace.source.reader.pipeline import rows_for

        with user_errors():
            self._config = config
            self._schema = arrow_schema(schema)
            rows_for(config, self._schema)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Called on an executor for each partition."""
        from millrace.source.reader.error_policy import ErrorPolicy
        from millrace.source.reader.pipeline import read
        from millrace.source.reader.split_metrics import SplitMetrics
        from millrace.spark.time_zone import session_time_zone

        # Spark makes an empty partition of its own for a read that has none
        split = partition.split if isinstance(partition, SplitPartition) else Split(())
        tally = SplitMetrics()
        dirty = ErrorPolicy(self._config, tally)
        with user_errors():
            yield from read(self._config, self._schema, session_time_zone(), split, tally, dirty)
            if isinstance(partition, SplitPartition) and partition.report_to is not None:
                self._report(partition.report_to, tally, dirty)
        exempt_what_is_loaded()

    def _report(self, to: ReportTo, tally: SplitMetrics, dirty: ErrorPolicy) -> None:
        from millrace.kafka.consumer import consumer_for
        from millrace.monitoring.sender import send

        client, statistics = consumer_for(self._config.client).statistics.newest()
        report = Report(to.batch, to.split, dict(tally.counts), client, statistics, is_answered=dirty.must_ask)
        answer = send(to.address, report)
        if dirty.must_ask:
            dirty.check(None if answer is None else int(answer))


class ReportTo(NamedTuple):
    """Where a task tells what it has read, and as what."""

    address: Address
    batch: int
    split: int


class SplitPartition(InputPartition):
    """A split, to be read by one task.

    Args:
        split: What to read.
        report_to: Whom to tell what was read; None for nobody.
    """

    def __init__(self, split: Split, report_to: ReportTo | None = None) -> None:
        super().__init__(split)
        self.split = split
        self.report_to = report_to
