from __future__ import annotations

import dataclasses
from typing import Any

from millrace.contracts import QueryReport
from millrace.contracts.jobs import JobTable, PipelineCounts
from millrace.contracts.metric_declarations import CLIENT_METRICS
from millrace.contracts.metrics import PartitionMetrics, SinkMetrics, SourceMetrics


def partition(number: int, lag: int, topic: str = "orders", **others: Any) -> PartitionMetrics:
    measured = PartitionMetrics(topic, number, 10 + number, None, lag, 5, 50, 0, 20, 1500)
    return dataclasses.replace(measured, **others)


def source(*partitions: PartitionMetrics) -> SourceMetrics:
    return SourceMetrics(
        partitions=partitions,
        pending_records=sum(one.pending_records for one in partitions),
        num_records_in=0,
        num_records_in_per_second=0.0,
        num_bytes_in=0,
        num_bytes_in_per_second=0.0,
        num_records_in_errors=sum(one.num_records_in_errors for one in partitions),
        records_skipped=0,
        commits_succeeded=0,
        commits_failed=0,
        current_fetch_event_time_lag=None,
        current_emit_event_time_lag=1500,
        watermark_lag=None,
        source_idle_time=0,
        missing_reports=0,
        consumers={},
    )


def report(*lags: int, batch: int | None = 0, time: float = 1000.0, **others: Any) -> QueryReport:
    made = QueryReport(
        query="copy",
        query_id="id-1",
        run_id="run-1",
        time=time,
        batch_id=batch,
        has_run=batch is not None,
        input_rows=7,
        input_rows_per_second=3.5,
        processed_rows_per_second=70.0,
        phases={"addBatch": 90, "triggerExecution": 100},
        sources=(source(*(partition(number, lag) for number, lag in enumerate(lags))),) if lags else (),
    )
    return dataclasses.replace(made, **others)


def whole_report() -> QueryReport:
    """Return a report with a value of each declared metric."""
    read = source(partition(0, 1, committed_offset=3, state_keys=4, state_bytes=5))
    consumers = {"consumer-1": {metric.source: 6.0 for metric in CLIENT_METRICS}}
    sink = SinkMetrics(num_records_out=5, transactions_committed=2, current_send_time=40)
    table = JobTable("shop.customers", changes=8, schema_version=2, age_ms=2500, paused="a column", collected=9)
    counts = PipelineCounts((table,), schema_changes=3, malformed=1)
    return report(sources=(dataclasses.replace(read, consumers=consumers),), sink=sink, pipeline=counts)
