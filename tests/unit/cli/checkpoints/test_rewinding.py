"""Copies of checkpoints that read records again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.checkpoints import QUERY, WrittenCheckpoint, files_in, offsets_in
from support.command_line import run_command


def at(*offsets: int, topic: str = "orders", **more: Any) -> dict[str, Any]:
    return {"v": 1, "topics": {topic: {str(number): offset for number, offset in enumerate(offsets)}}, **more}


@pytest.fixture
def original(tmp_path: Path) -> WrittenCheckpoint:
    written = WrittenCheckpoint(tmp_path / "old")
    for batch in range(4):
        written.begin(batch, at(10 * batch, 5 * batch, owner="me", new={"orders": {"1": 0}})).commit(batch)
    return written


def rewind(original: WrittenCheckpoint, target: str, *arguments: str) -> tuple[Path, str]:
    new = original.folder.parent / "new"
    done = run_command("checkpoint", "rewind", original.folder, new, "--to", target, *arguments)
    assert (done.exit_code == 0) == new.exists()
    return new, done.output


@pytest.mark.parametrize(
    "target", ['{"orders": {"0": 12}}', "partition:0,offset:12", "topic:orders,partition:0,offset:12;"]
)
def test_a_query_without_state_goes_on_at_any_offset(original: WrittenCheckpoint, target: str) -> None:
    new, output = rewind(original, target)
    assert offsets_in(new, 3) == {"0": at(12, 15, owner="me")}
    assert offsets_in(new, 2) == offsets_in(original.folder, 2)
    assert output.endswith("read again: 18 offsets, orders-0 [12, 30)\n")


def test_the_copy_is_another_query_whose_next_micro_batch_no_sink_knows(original: WrittenCheckpoint) -> None:
    original.write("millrace-exactly-once.json", json.dumps({"query": QUERY, "batch": 3, "sink": ["a"], "at": 9}))
    new, _ = rewind(original, '{"orders": {"0": 12}}')
    query = json.loads((new / "metadata").read_text())["id"]
    assert query != QUERY
    note = json.loads((new / "millrace-exactly-once.json").read_text())
    assert note == {"query": query, "batch": 3, "sink": None, "at": 0}
    assert not (new / ".metadata.crc").exists()


def test_a_query_with_state_goes_back_to_the_end_of_a_micro_batch(original: WrittenCheckpoint) -> None:
    original.keep_state("1.delta", "2.delta", "3.delta", "4.delta")
    original.keep_state("1.zip", "2.zip", "3.zip", "4.zip", store="0/1/left-keyToNumValues")
    new, output = rewind(original, '{"orders": {"0": 25}}')
    assert set(files_in(new)) == {
        *(f"{log}/{name}" for log in ("offsets", "commits") for name in ("0", "1", "2", ".0.crc", ".1.crc", ".2.crc")),
        *(f"state/0/0/{name}" for n in (1, 2, 3) for name in (f"{n}.delta", f".{n}.delta.crc")),
        *(f"state/0/1/left-keyToNumValues/{name}" for n in (1, 2, 3) for name in (f"{n}.zip", f".{n}.zip.crc")),
        "metadata",
        "millrace-exactly-once.json",
    }
    assert offsets_in(new, 2) == offsets_in(original.folder, 2)
    assert "the state goes back with the query, to the end of micro-batch 2" in output
    assert output.endswith("read again: 15 offsets, orders-0 [20, 30); orders-1 [10, 15)\n")


def test_state_that_is_gone_cannot_be_gone_back_to(original: WrittenCheckpoint) -> None:
    original.keep_state("2.snapshot", "3.delta", "4.delta")
    assert "to the end of micro-batch 1" in rewind(original, '{"orders": {"0": 10}}')[1]
    (original.folder / "state/0/0/2.snapshot").unlink()
    original.keep_state("4.snapshot")
    (original.folder.parent / "new").rename(original.folder.parent / "first")
    _, output = rewind(original, '{"orders": {"0": 10}}')
    assert "there is none at or before these offsets whose state is still there" in output
    assert "micro-batches 0 to 3 (spark.sql.streaming.minBatchesToRetain)" in output


def test_sources_of_one_topic_go_back_each_from_where_it_is(tmp_path: Path) -> None:
    original = WrittenCheckpoint(tmp_path / "old").begin(0, at(10), at(20)).commit(0)
    new, _ = rewind(original, '{"orders": {"0": 15}}')
    assert offsets_in(new, 0) == {"0": at(10), "1": at(15)}


def test_what_was_begun_is_read_again_where_that_is_asked_for(original: WrittenCheckpoint) -> None:
    original.begin(4, at(99, 99))
    assert "give --repeat-uncommitted, with which they are read again" in rewind(original, '{"orders": {"0": 12}}')[1]
    new, _ = rewind(original, '{"orders": {"0": 12}}', "--repeat-uncommitted")
    assert sorted(file.name for file in (new / "offsets").iterdir() if file.suffix != ".crc") == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ('{"orders": {"7": 1}}', "the query has read nothing of orders-7; it reads orders-0, orders-1"),
        ('{"orders": {"0": 31}}', "the query has read orders-0 up to offset 30; offset 31 is behind that"),
        ('{"orders": {"0": -2}}', "expected offsets from 0 by topic and partition"),
        ('{"orders": 5}', "expected offsets from 0 by topic and partition"),
        ("partition:0,offset:earliest", "expected offsets such as"),
        ("yesterday", "expected a time such as"),
        ("2026-11-23 06:00", "no brokers are given; give them by --bootstrap-servers"),
    ],
)
def test_what_is_no_place_to_go_back_to_is_told(original: WrittenCheckpoint, target: str, expected: str) -> None:
    assert expected in rewind(original, target)[1]


def test_the_topic_of_an_offset_is_named_where_there_are_several(tmp_path: Path) -> None:
    original = WrittenCheckpoint(tmp_path / "old").begin(0, at(10), at(20, topic="paid")).commit(0)
    assert "name the topic of each offset" in rewind(original, "partition:0,offset:5")[1]


def test_a_checkpoint_of_sparks_connector_is_imported_first(tmp_path: Path) -> None:
    original = WrittenCheckpoint(tmp_path / "old").begin(0, {"orders": {"0": 5}}).commit(0)
    assert "must be imported first" in rewind(original, '{"orders": {"0": 1}}')[1]


def test_a_query_that_has_completed_nothing_has_no_place_to_go_back_to(tmp_path: Path) -> None:
    original = WrittenCheckpoint(tmp_path / "old").begin(0, at(5))
    assert "has completed no micro-batch yet" in rewind(original, '{"orders": {"0": 1}}', "--repeat-uncommitted")[1]
