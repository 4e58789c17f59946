from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from millrace.configuration import SinkConfig
from millrace.sink.committer.checkpoint_evidence import NOTE, copied_note, note_completed_batch, planned_batch
from millrace.sink.committer.completed_batches import CompletedRun
from millrace.sink.write_task import PlannedBatch
from support.records import sink_config

RETENTION_S = 7 * 86_400.0
PLANNED_AT = 1_000_000.0
LATER = PLANNED_AT + RETENTION_S


def config(checkpoint: object, prefix: str = "copy", topic: str = "orders") -> SinkConfig:
    guarantee = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": prefix}
    return dataclasses.replace(sink_config(topic=topic, **guarantee), checkpoint_location=str(checkpoint))


def plan(checkpoint: Path, *batches: int) -> None:
    """Write the offset log as Spark does."""
    (checkpoint / "offsets").mkdir(exist_ok=True)
    for batch in batches:
        metadata = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": int(PLANNED_AT * 1000) + batch, "conf": {}})
        (checkpoint / "offsets" / str(batch)).write_text(f"v1\n{metadata}\n{{}}")
        (checkpoint / "offsets" / f".{batch}.crc").write_bytes(b"crc")


def test_the_newest_micro_batch_counts_and_what_the_same_sink_has_completed(tmp_path: Path) -> None:
    plan(tmp_path, 8, 9, 10)
    assert planned_batch(config(tmp_path), None, LATER) == PlannedBatch(10, PLANNED_AT + 0.01)
    note_completed_batch(config(tmp_path), "me", 4, 100.5)
    note_completed_batch(config(tmp_path), "me", 7, 200.5)
    assert planned_batch(config(tmp_path), None, LATER) == PlannedBatch(10, PLANNED_AT + 0.01, "me", 7, 200)


def test_a_note_of_an_earlier_version_has_no_time(tmp_path: Path) -> None:
    plan(tmp_path, 10)
    note_completed_batch(config(tmp_path), "me", 7, 200.5)
    note = json.loads((tmp_path / NOTE).read_text())
    del note["at"]
    (tmp_path / NOTE).write_text(json.dumps(note))
    assert planned_batch(config(tmp_path), None, LATER) == PlannedBatch(10, PLANNED_AT + 0.01, "me", 7)


def test_a_copy_has_completed_its_micro_batches_with_every_sink(tmp_path: Path) -> None:
    plan(tmp_path, 8)
    (tmp_path / NOTE).write_text(copied_note("me", 7))
    assert planned_batch(config(tmp_path), None, LATER) == PlannedBatch(8, PLANNED_AT + 0.008, "me", 7)


@pytest.mark.parametrize("other", [{"prefix": "copy-2"}, {"topic": "payments"}])
def test_another_sink_has_completed_nothing(tmp_path: Path, other: dict[str, str]) -> None:
    plan(tmp_path, 8)
    note_completed_batch(config(tmp_path), "me", 7, LATER)
    assert planned_batch(config(tmp_path, **other), None, LATER) == PlannedBatch(8, PLANNED_AT + 0.008)


def test_the_checkpoint_is_not_asked_as_long_as_the_brokers_know_the_query(tmp_path: Path) -> None:
    plan(tmp_path, 8)
    fresh = CompletedRun("run", 7, LATER - RETENTION_S / 2 + 1)
    assert planned_batch(config(tmp_path), fresh, LATER) is None
    assert planned_batch(config(tmp_path), dataclasses.replace(fresh, at=fresh.at - 2), LATER) is not None


@pytest.mark.parametrize(("age", "is_told"), [(0.0, False), (0.89, False), (0.91, True)])
def test_a_first_micro_batch_is_told_when_its_ledgers_may_be_gone(tmp_path: Path, age: float, is_told: bool) -> None:
    plan(tmp_path, 0)
    found = planned_batch(config(tmp_path), None, PLANNED_AT + age * RETENTION_S)
    assert found == (PlannedBatch(0, PLANNED_AT) if is_told else None)


@pytest.mark.parametrize("text", ["", "v1", "v1\n{}", "v1\n[]", "v1\nnull", 'v1\n{"batchTimestampMs": "soon"}'])
def test_an_offset_log_that_says_nothing_is_none(tmp_path: Path, text: str) -> None:
    plan(tmp_path, 8)
    (tmp_path / "offsets" / "8").write_text(text)
    assert planned_batch(config(tmp_path), None, LATER) is None


@pytest.mark.parametrize("checkpoint", ["", "/none/such", "hdfs://node/checkpoints"])
def test_a_checkpoint_that_cannot_be_read_or_written_is_no_failure(checkpoint: str) -> None:
    note_completed_batch(config(checkpoint), "me", 7, LATER)
    assert planned_batch(config(checkpoint), None, LATER) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"query": "me", "batch": null, "sink": []}'])
def test_a_note_that_is_damaged_is_none(tmp_path: Path, text: str) -> None:
    plan(tmp_path, 8)
    (tmp_path / NOTE).write_text(text)
    assert planned_batch(config(tmp_path), None, LATER) == PlannedBatch(8, PLANNED_AT + 0.008)
