"""The figures of a pipeline's progress."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.types import parse_schema
from millrace_cdc.runtime.progress import PipelineProgress
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.task_reports import TableReport, TaskFindings

NOW = datetime(2024, 5, 6, tzinfo=UTC)


def test_the_reports_of_all_tasks_are_counted():
    tracker = SchemaTracker("a")
    tracker.create(parse_schema("id BIGINT"))
    state = SchemaState({"a": tracker}, malformed=2)
    progress = PipelineProgress()
    first = TaskFindings({"a": TableReport(rows=2, newest=NOW)})
    second = TaskFindings({"a": TableReport(rows=3, newest=NOW - timedelta(hours=1))})
    progress.count(state, [first, second, TaskFindings({})], 1)
    table = progress.tables["a"]
    assert (table.rows, table.newest, table.version) == (5, NOW, 1)
    assert (progress.batches, progress.malformed, progress.schema_changes) == (1, 2, 1)
    progress.count(state, [TaskFindings({})], 0)
    assert progress.batches == 1, "it had no messages"
