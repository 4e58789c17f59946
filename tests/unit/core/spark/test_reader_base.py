from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
import tzlocal
from pyspark.sql.types import StructType

from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.monitoring.report import ReceiverAddress
from millrace.source.reader.error_policy import ErrorPolicy
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import Split
from millrace.spark.reader_base import ReaderBase, ReportTo, SplitPartition, session_time_zone
from millrace.spark.split_reader import SplitReader
from millrace.spark.time_zones import to_arrow_time_zone


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("UTC", "UTC"),
        ("Z", "UTC"),
        ("+02:00", "+02:00"),
        ("-8", "-08:00"),
        ("GMT+1", "+01:00"),
        ("UTC+05:30", "+05:30"),
        ("+0530", "+05:30"),
    ],
)
def test_names_of_zones(zone: str, expected: str) -> None:
    assert to_arrow_time_zone(zone) == expected
    assert pa.array([0], pa.timestamp("us", expected)).to_pylist()


@pytest.fixture
def in_kolkata() -> Iterator[None]:
    # tzlocal remembers the zone
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Kolkata")
        tzlocal.reload_localzone()
        yield
    tzlocal.reload_localzone()


@pytest.mark.usefixtures("in_kolkata")
def test_without_a_session_the_zone_is_the_machines() -> None:
    assert session_time_zone() == "Asia/Kolkata"


@pytest.mark.parametrize("has_driver", [True, False])
def test_a_task_of_a_stream_is_compared_with_limits_before_its_changes_are_durable(
    monkeypatch: pytest.MonkeyPatch, *, has_driver: bool
) -> None:
    durable = []

    def read(_: SplitReader, split: Split, zone: str, metrics: SplitMetrics, policy: ErrorPolicy) -> Iterator[None]:
        count = metrics.counts[TopicPartition("orders", 0)]
        count.records, count.errors = 1_000, 51
        policy.finish()
        durable.append(split)
        yield from ()

    monkeypatch.setattr(SplitReader, "read", read)
    # The driver knows of more
    monkeypatch.setattr("millrace.monitoring.sender.send", lambda *_: b"102 2000 0 0")
    limit = {"ingestion.ignore-errors": "true", "dirty-data.max-ratio": "5 %"}
    config = configure_source({"properties.bootstrap.servers": "h:1", "topic": "orders", "format": "json", **limit})
    reader = ReaderBase(config, StructType().add("id", "long"))
    report_to = ReportTo(ReceiverAddress("h", 1, b""), 1, 0) if has_driver else None
    messages = "this query: 102 of 2000" if has_driver else "this task: 51 of 1000"
    with pytest.raises(Exception, match=f"{messages}, a larger share than the 0.05"):
        list(reader.read(SplitPartition(Split((), is_stream=True), report_to)))
    assert durable == []
