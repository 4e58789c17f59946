"""Read splits on executors, for batch and streaming reads."""

from __future__ import annotations

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
from millrace.spark.split_reader import SplitReader
from millrace.spark.time_zones import local_time_zone, to_arrow_time_zone

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from millrace.source.reader.error_policy import ErrorPolicy
    from millrace.source.reader.split_metrics import SplitMetrics


class ReaderBase:
    """Read splits on executors; created on the driver, which checks the schema.

    Args:
        config: How to read.
        schema: The columns of the result.
    """

    def __init__(self, config: SourceConfig, schema: StructType) -> None:
        with user_errors():
            self._config = config
            self._splits = SplitReader.checked(config, schema)
        self._columns = schema

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one partition; called on an executor for each of them."""
        from millrace.source.reader.split_metrics import SplitMetrics

        # Spark makes an empty partition of its own for a read that has none
        split = partition.split if isinstance(partition, SplitPartition) else Split(())
        context = TaskContext.get()
        followers = None if context is None else session_setting(context, TRACES)
        metrics = SplitMetrics(max_links(followers))
        report_to = partition.report_to if isinstance(partition, SplitPartition) else None
        is_stream = report_to is not None or split.is_stream

        def before_end(error_policy: ErrorPolicy) -> None:
            if report_to is None:
                error_policy.check_share_of_task()
            else:
                self._report(split, report_to, metrics, error_policy, _traces(context, metrics, followers))

        error_policy = self._splits.error_policy(metrics, before_end=before_end if is_stream else None)
        with executor_errors():
            yield from self._splits.read(split, session_time_zone(), metrics, error_policy)
            if not is_stream:
                error_policy.check_share_of_task()
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
        from millrace.monitoring.split_report import MalformedTotals
        from millrace.source.reader.pipeline import consumer_of_split

        client, statistics = consumer_of_split(self._config.client, split).statistics.latest()
        needs_answer = error_policy.needs_query_total
        # With an answer, traces are where they belong before the micro-batch has ended
        is_answered = needs_answer or traces is not None
        counts = dict(metrics.counts)
        report = SplitReport(
            to.batch,
            to.split,
            counts,
            client,
            statistics,
            is_answered=is_answered,
            traces=traces,
            runs=error_policy.runs_of(split),
            replayed=error_policy.replayed_partitions,
        )
        answer = send(to.address, report)
        if needs_answer:
            error_policy.check_query_total(None if answer is None else MalformedTotals.from_bytes(answer))


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
    return to_arrow_time_zone(local_time_zone() if zone is None else zone)
