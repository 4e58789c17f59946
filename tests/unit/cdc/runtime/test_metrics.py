"""Metrics of pipelines."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from millrace.change_dialects import SkipReason
from millrace_cdc.runtime.metrics import pipeline_metrics
from millrace_cdc.runtime.progress import PipelineProgress, TableProgress

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_each_table_has_its_figures():
    progress = PipelineProgress(
        {"shop.orders": TableProgress(5, NOW - timedelta(seconds=2), 3), "shop.items": TableProgress(1, None, 1)},
        schema_changes=4,
        malformed=2,
        paused={"shop.broken": "a reason", "shop.orders": "another"},
        collected=Counter({"shop.broken": 7}),
        skipped=Counter({SkipReason.TOMBSTONE: 1, SkipReason.HEARTBEAT: 3}),
    )
    assert pipeline_metrics(progress, (), NOW).to_dict() == {
        "tables": [
            _table("shop.broken", isPaused=True, numRecordsCollected=7),
            _table("shop.items", numChangesIn=1, schemaVersion=1),
            _table("shop.orders", numChangesIn=5, schemaVersion=3, currentEventTimeLag=2_000, isPaused=True),
        ],
        "pendingRecords": None,
        "numSchemaChangesOut": 4,
        "numRecordsInErrors": 2,
        "sources": [],
        "numRecordsSkipped": {"heartbeat": 3, "tombstone": 1},
    }


def test_a_clock_ahead_of_this_one_makes_no_negative_lag():
    progress = PipelineProgress({"a": TableProgress(1, NOW + timedelta(seconds=2), 1)})
    (table,) = pipeline_metrics(progress, (), NOW).tables
    assert table.current_event_time_lag == 0


def _table(name: str, **given: object) -> dict[str, object]:
    none = {"numChangesIn": 0, "schemaVersion": 0, "currentEventTimeLag": None, "isPaused": False}
    return {"table": name, **none, "numRecordsCollected": 0, **given}
