"""Read splits on executors, for batch and streaming reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pyspark import TaskContext
from pyspark.sql.datasource import InputPartition

from millrace.configuration import SourceConfig
from millrace.gc_control import LOADED_OBJECTS
from millrace.monitoring.report import ReceiverAddress
from millrace.monitoring.split_report import SplitReport
from millrace.monitoring.trace_report import SETTING as TRACES
from millrace.monitoring.trace_report import TraceReport, max_links
from millrace.pyspark_internals import micro_batch_id, query_run_id, session_setting
from millrace.source.splits import Split
from millrace.spark.errors import executor_errors, user_errors
from millrace.spark.schema import arrow_schema, check_declared_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from millrace.source.reader.error_policy import ErrorPolicy
    from millrace.source.reader.split_metrics import SplitMetrics

_ZONE_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d\d))?(?::?\d\d)?")


class ReaderBase:
    """Read splits on executors; created on the driver, which checks the schema.

    Args:
        config: How to read.
        schema: The columns of the result.
    """

    def __init__(self, config: SourceConfig, schema: StructType) -> None:
        from millrace.source.reader.decoding_plan import check_table_columns, record_batch_builder_for

        with user_errors():
            self._config = config
            self._schema = arrow_schema(schema)
            check_declared_columns(config, self._schema)
            record_batch_builder_for(config, self._schema)
            check_table_columns(config, self._schema)
        self._columns = schema

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one partition; called on an executor for each of them."""
        from millrace.source.reader.dead_letters import collector_for
        from millrace.source.reader.error_policy import ErrorPolicy
        from millrace.source.reader.pipeline import read_split
        from millrace.source.reader.split_metrics import SplitMetrics
        from millrace.spark.time_precision import batch_truncation

        # Spark makes an empty partition of its own for a read that has none
        split = partition.split if isinstance(partition, SplitPartition) else Split(())
        context = TaskContext.get()
        followers = None if context is None else session_setting(context, TRACES)
        metrics = SplitMetrics(max_links(followers))
        error_policy = ErrorPolicy(self._config.options, metrics, collector_for(self._config))
        truncate = batch_truncation(self._columns)
        with executor_errors():
            batches = read_split(self._config, self._schema, session_time_zone(), split, metrics, error_policy)
            yield from batches if truncate is None else map(truncate, batches)
            if isinstance(partition, SplitPartition) and partition.report_to is not None:
                traces = _traces(context, metrics, followers)
                self._report(partition.split, partition.report_to, metrics, error_policy, traces)
        LOADED_OBJECTS.freeze()

    def _report(
        self,
        split: Split,
        to: ReportTo,
        metrics: SplitMetrics,
        error_policy: ErrorPolicy,
        traces: TraceReport | None,
    ) -> None:
        from millrace.monitoring.sender import send
        from millrace.source.reader.pipeline import consumer_of_split

        client, statistics = consumer_of_split(self._config.client, split).statistics.latest()
        needs_answer = error_policy.needs_query_total
        # With an answer, traces are where they belong before the micro-batch has ended
        is_answered = needs_answer or traces is not None
        counts = dict(metrics.counts)
        report = SplitReport(to.batch, to.split, counts, client, statistics, is_answered=is_answered, traces=traces)
        answer = send(to.address, report)
        if needs_answer:
            error_policy.check_query_total(None if answer is None else int(answer))


def _traces(context: TaskContext | None, metrics: SplitMetrics, followers: str | None) -> TraceReport | None:
    if context is None or not metrics.traceparents:
        return None
    return TraceReport(query_run_id(context), micro_batch_id(context), tuple(metrics.traceparents), followers or "")


class ReportTo(NamedTuple):
    """The address for a task's report, and the numbers of its micro-batch and split."""

    address: ReceiverAddress
    batch: int
    split: int


class SplitPartition(InputPartition):
    """A split, to be read by one task.

    Args:
        split: What to read.
        report_to: Where to report what was read; None for nowhere.
    """

    def __init__(self, split: Split, report_to: ReportTo | None = None) -> None:
        super().__init__(split)
        self.split = split
        self.report_to = report_to


def session_time_zone() -> str:
    """Return the session's time zone, in which text without a zone is read; on an executor, while a task runs.

    It is a name, or an offset such as ``+05:30``. Where the session does not set ``spark.sql.session.timeZone``, Spark
    takes the machine's.
    """
    context = TaskContext.get()
    zone = None if context is None else session_setting(context, "spark.sql.session.timeZone")
    if zone is None:
        import tzlocal

        zone = tzlocal.get_localzone_name()
    return to_arrow_time_zone(zone)


def to_arrow_time_zone(zone: str) -> str:
    """Return a zone as Arrow names it, which does not know Java's further names for offsets, such as ``GMT+1``."""
    match = _ZONE_OFFSET.fullmatch(zone)
    if match is None:
        return "UTC" if zone == "Z" else zone
    return f"{match[1]}{int(match[2]):02d}:{match[3] or '00'}"
