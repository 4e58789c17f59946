from __future__ import annotations

import dataclasses
import json
import logging
from types import SimpleNamespace
from typing import Any

import pytest

from millrace.api.metrics import metrics, source_metrics
from millrace.api.metrics_listener import MetricsListener
from millrace.contracts.metrics import PartitionMetrics, QueryMetrics, SinkMetrics

REPORTED = {
    "partitions": {"a": {"0": [10, 100, 0, 5, 9, 4], "1": [2, 20, 3, 7, None, 1]}},
    "records_per_second": 12.5,
    "bytes_per_second": 125.0,
    "idle_ms": 40,
    "missing": 1,
    "clients": {"reader": {"rx": 7}},
    "skipped": 4,
    "committed": {"a": {"0": 6}},
    "commits_succeeded": 2,
    "commits_failed": 1,
}


def offset(metrics_: Any = None, **topics: Any) -> str:
    return json.dumps({"v": 1, "topics": topics, **({"metrics": metrics_} if metrics_ else {})})


def progress(*sources: tuple[str | None, str | None], watermark: str | None = None) -> Any:
    return SimpleNamespace(
        sources=[SimpleNamespace(latestOffset=latest, endOffset=end) for latest, end in sources],
        eventTime={"watermark": watermark} if watermark else {},
        timestamp="2026-01-01T00:01:00.500Z",
    )


def test_partitions_have_offsets_lag_and_counts() -> None:
    (found,) = source_metrics(progress((offset(REPORTED, a={"0": 12, "1": 5}), offset(a={"0": 10, "1": 5}))))
    assert found.partitions == (
        PartitionMetrics("a", 0, 10, 6, 2, 10, 100, 0, 5, 9, 4),
        PartitionMetrics("a", 1, 5, None, 0, 2, 20, 3, 7, None, 1),
    )


def test_the_lag_has_what_is_behind_open_transactions() -> None:
    reported = {**REPORTED, "high_watermarks": {"a": {"0": 15}}}
    (found,) = source_metrics(progress((offset(reported, a={"0": 12, "1": 5}), offset(a={"0": 10, "1": 5}))))
    assert [(each.pending_records, each.last_stable_offset_lag) for each in found.partitions] == [(5, 3), (0, 0)]
    assert (found.pending_records, found.last_stable_offset_lag) == (5, 3)


def test_a_source_has_what_its_partitions_have_together() -> None:
    (found,) = source_metrics(
        progress(
            (offset(REPORTED, a={"0": 12, "1": 5}), offset(a={"0": 10, "1": 5})), watermark="2026-01-01T00:00:00.000Z"
        )
    )
    shown = found.to_dict()
    del shown["partitions"]
    assert shown == {
        "pendingRecords": 2,
        "numRecordsIn": 12,
        "numRecordsInPerSecond": 12.5,
        "numBytesIn": 120,
        "numBytesInPerSecond": 125.0,
        "numRecordsInErrors": 5,
        "recordsSkipped": 7,
        "commitsSucceeded": 2,
        "commitsFailed": 1,
        "currentFetchEventTimeLag": 7,
        "currentEmitEventTimeLag": 9,
        "watermarkLag": 60_500,
        "sourceIdleTime": 40,
        "missingReports": 1,
        "consumers": {"reader": {"rx": 7}},
        "lastStableOffsetLag": 0,
        "stateRestores": 0,
        "stateKeys": None,
        "stateBytes": None,
    }
    assert found.to_dict()["partitions"][0]["committedOffset"] == 6


def test_a_table_has_the_size_of_its_state() -> None:
    read = {"a": {"0": [9, 90, 0, None, None, 0, 1, 500, 8192], "1": [9, 90, 0, None, None, 0, 2, 30, 4096]}}
    reported = {**REPORTED, "partitions": read}
    (found,) = source_metrics(progress((offset(reported, a={"0": 9, "1": 9}), offset(a={"0": 9, "1": 9}))))
    sizes = [(each.state_restores, each.state_keys, each.state_bytes) for each in (*found.partitions, found)]
    assert sizes == [(1, 500, 8192), (2, 30, 4096), (3, 530, 12288)]


def test_without_a_watermark_there_is_no_lag_of_it() -> None:
    source = offset(REPORTED, a={"0": 1}), offset(a={"0": 1})
    assert source_metrics(progress(source))[0].watermark_lag is None
    assert source_metrics(progress(source, watermark="1970-01-01T00:00:00.000Z"))[0].watermark_lag is None


def test_other_sources_are_left_out() -> None:
    sparks = json.dumps({"a": {"0": 3}})
    assert source_metrics(progress((None, None), ("7", "7"), (sparks, sparks))) == ()


def test_a_query_without_progress_has_no_metrics() -> None:
    query: Any = SimpleNamespace(lastProgress=None)
    assert metrics(query) == QueryMetrics()


def test_a_query_has_the_metrics_of_its_sources_and_of_its_sink() -> None:
    query: Any = SimpleNamespace(lastProgress=progress((offset(REPORTED, a={"0": 12}), offset(a={"0": 10}))))
    sink: Any = SimpleNamespace(metrics=lambda: SinkMetrics(num_records_out=7))
    found = metrics(query, sink)
    assert found.sources == source_metrics(query.lastProgress)
    assert found.sink == SinkMetrics(num_records_out=7)
    shown = found.to_dict()
    assert shown["sources"] == [found.sources[0].to_dict()]
    assert shown["sink"]["numRecordsOut"] == 7
    assert metrics(query).to_dict()["sink"] is None


def test_metrics_are_plain_values_of_their_own() -> None:
    statistics = {"p": {"tx": 1}}
    shown = SinkMetrics(producers=statistics).to_dict()
    json.dumps(shown)
    shown["producers"]["p"]["tx"] = 2
    assert statistics == {"p": {"tx": 1}}


def test_a_listener_hears_of_sources_and_of_sinks() -> None:
    heard: list[tuple[str, Any]] = []
    listener = MetricsListener(lambda name, each: heard.append((name, each)))
    event = progress((offset(REPORTED, a={"0": 12}), offset(a={"0": 10})))
    event.name, event.id = None, "some-id"
    listener.onQueryProgress(SimpleNamespace(progress=event))  # as much as it looks at
    listener.on_metrics("copy", SinkMetrics())
    assert heard == [("some-id", source_metrics(event)[0]), ("copy", SinkMetrics())]


def test_a_listener_logs_by_default(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "millrace.metrics"):
        MetricsListener().on_metrics("copy", SinkMetrics(num_records_out=7))
    (message,) = caplog.messages
    assert message.startswith('copy {"numRecordsOut": 7, ')


def test_what_is_no_query_is_refused() -> None:
    rows: Any = object()
    with pytest.raises(
        TypeError, match=r"expects the query that \.writeStream\.\.\.start\(\) returns; got an object of"
    ):
        metrics(rows)


def test_metrics_are_tables_of_80_columns_for_people() -> None:
    partition = PartitionMetrics("orders", 0, 1_234_567, None, 2_500, 1_000_000, 10**9, 0, 1_500, None, 12)
    reported = progress((offset(orders={"0": 5}), offset(orders={"0": 5})))
    source = metrics(SimpleNamespace(lastProgress=reported)).sources[0]
    shown = QueryMetrics((dataclasses.replace(source, partitions=(partition,)),), SinkMetrics(num_records_out=7))
    lines = str(shown).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == ["orders", "0", "1,234,567", "2,500", "1.5", "1,000,000", "12", "0"]
    assert lines[4].split()[0] == "7"
    assert shown._repr_html_().count("<table>") == 2
    assert str(QueryMetrics()) == "no micro-batch has ended yet"
