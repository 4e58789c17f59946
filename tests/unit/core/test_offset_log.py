from __future__ import annotations

import json

import pytest

from millrace.checkpoint import StreamOffset
from millrace.contracts import TopicPartition
from millrace.errors import MillraceError
from millrace.offset_log import INCOMPLETE, OffsetLogEntry, RestartPoint, find_restart_point

A0 = TopicPartition("a", 0)
OFFSET = StreamOffset({A0: 5}, start_overrides={A0: 2})
METADATA = '{"batchWatermarkMs":0,"batchTimestampMs":1795814626412,"conf":{"a:b":"c"}}'


def test_the_offset_log_has_a_line_for_each_source_of_the_query() -> None:
    log = "\n".join(["v1", METADATA, '{"sourceOffset":"7"}', json.dumps(OFFSET.to_json())])
    assert OffsetLogEntry.parse(log).stream_offsets() == {"1": OFFSET}


def test_version_2_of_the_offset_log_names_or_counts_its_sources() -> None:
    log = "\n".join(["v2", METADATA, '0:{"sourceOffset":"7"}', f"my_orders:{json.dumps(OFFSET.to_json())}"])
    assert OffsetLogEntry.parse(log).stream_offsets() == {"my_orders": OFFSET}
    assert OffsetLogEntry.parse(log).sources["0"] == '{"sourceOffset":"7"}'
    assert OffsetLogEntry.parse(log).planning_time() == 1795814626.412


@pytest.mark.parametrize("text", ["v3\n{}\n{}", ""])
def test_another_version_of_the_offset_log_is_told(text: str) -> None:
    with pytest.raises(MillraceError, match=r"offset log has version .*, this millrace reads 'v1' and 'v2'\."):
        OffsetLogEntry.parse(text)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_an_entry_is_written_as_spark_wrote_it(version: str) -> None:
    names = ("0:", "my_orders:") if version == "v2" else ("", "")
    log = "\n".join([version, METADATA, f"{names[0]}-", f'{names[1]}{{"orders":{{"0":42}}}}'])
    entry = OffsetLogEntry.parse(log)
    assert entry.to_text() == log
    assert (entry.watermark_ms(), list(entry.sources.values())) == (0, ["-", '{"orders":{"0":42}}'])


def test_a_copy_that_is_incomplete_is_refused() -> None:
    with pytest.raises(MillraceError, match="the checkpoint is a copy that is incomplete"):
        OffsetLogEntry.parse(f"{INCOMPLETE}\n")


@pytest.mark.parametrize(
    ("begun", "done", "point"),
    [
        ([], [], None),
        ([0], [], RestartPoint(None, 0)),
        ([0, 1], [0], RestartPoint(0, 1)),
        ([0, 1], [0, 1], RestartPoint(1, None)),
        # Asynchronous progress tracking leaves micro-batches out; commits may have others than offsets
        ([0, 5, 12], [0, 5], RestartPoint(5, 12)),
        ([0, 5, 12], [0, 4], RestartPoint(5, 12)),
    ],
)
def test_a_query_goes_on_where_its_logs_end(begun: list[int], done: list[int], point: RestartPoint | None) -> None:
    names = [f".{number}.crc" for number in begun]
    assert find_restart_point([*names, *map(str, begun)], map(str, done)) == point
