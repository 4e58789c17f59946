"""Checkpoints of Spark's own Kafka connector become those of millrace."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.checkpoints import QUERY, WrittenCheckpoint, files_in, offsets_in
from support.command_line import run_command

INITIAL = '\0v1\n{"orders":{"0":3}}'


def at(*offsets: int, topic: str = "orders") -> dict[str, dict[str, int]]:
    return {topic: {str(number): offset for number, offset in enumerate(offsets)}}


@pytest.fixture
def original(tmp_path: Path) -> WrittenCheckpoint:
    """Two complete micro-batches; the second one has a new partition."""
    written = WrittenCheckpoint(tmp_path / "old").write("sources/0/0", INITIAL)
    return written.begin(0, at(10)).begin(1, at(20, 5)).commit(0, 1).keep_state("1.delta", "2.delta")


def run_import(original: WrittenCheckpoint, *arguments: str) -> tuple[Path, str]:
    new = original.folder.parent / "new"
    done = run_command("checkpoint", "import", original.folder, new, *arguments)
    assert (done.exit_code == 0) == new.exists()
    return new, done.output


def test_offsets_are_translated_with_where_the_query_and_new_partitions_began(original: WrittenCheckpoint) -> None:
    new, output = run_import(original)
    assert output == f"copied {len(files_in(new))} files to {new}\n"
    assert offsets_in(new, 0) == {"0": {"v": 1, "topics": at(10), "from": at(3)}}
    assert offsets_in(new, 1) == {"0": {"v": 1, "topics": at(20, 5), "from": {"orders": {"1": 0}}}}


def test_all_else_stays_and_checksums_of_what_has_changed_are_left_out(original: WrittenCheckpoint) -> None:
    original.write("offsets/.2.af3.tmp", "half")
    old, new = files_in(original.folder), files_in(run_import(original)[0])
    assert files_in(original.folder) == old
    gone = {f"offsets/{name}" for name in (".0.crc", ".1.crc", ".2.af3.tmp", "..2.af3.tmp.crc")}
    assert set(new) == (set(old) - gone) | {"millrace-exactly-once.json"}
    assert {name for name in old if name in new and old[name] != new[name]} == {"offsets/0", "offsets/1"}
    assert old["offsets/1"].split(b"\n")[:2] == new["offsets/1"].split(b"\n")[:2]


def test_sinks_know_that_no_later_micro_batch_was_begun(original: WrittenCheckpoint) -> None:
    new, _ = run_import(original)
    note = (new / "millrace-exactly-once.json").read_text()
    assert note == f'{{"query": "{QUERY}", "batch": 1, "sink": null, "at": 0}}'


def test_several_sources_are_translated_by_their_names_and_others_stay(tmp_path: Path) -> None:
    original = WrittenCheckpoint(tmp_path / "old", ("orders", "rates", "paid"))
    original.begin(4, at(10), 7, at(1, topic="payments")).begin(5, at(20), 8, at(2, topic="payments")).commit(4, 5)
    new, _ = run_import(original)
    assert offsets_in(new, 5) == {
        "orders": {"v": 1, "topics": at(20)},
        "rates": 8,
        "paid": {"v": 1, "topics": at(2, topic="payments")},
    }


def test_single_sources_are_translated_where_they_are_named(tmp_path: Path) -> None:
    original = WrittenCheckpoint(tmp_path / "old").begin(3, at(10), at(1, topic="payments")).commit(3)
    new, _ = run_import(original, "--source", "1")
    assert offsets_in(new, 3) == {"0": at(10), "1": {"v": 1, "topics": at(1, topic="payments")}}


def test_a_micro_batch_that_is_not_complete_is_repeated_only_where_that_is_asked_for(
    original: WrittenCheckpoint,
) -> None:
    original.begin(2, at(30, 5))
    _, output = run_import(original)
    assert output == (
        "millrace: micro-batch 2 of the query is not complete: its records (orders-0 [20, 30)) were being processed "
        "when the query ended, and may be written already. Start the query once more and stop it when it has nothing "
        "to do, for instance with trigger(availableNow=True); or give --repeat-uncommitted, with which the copy "
        "processes them again\n"
    )
    new, _ = run_import(original, "--repeat-uncommitted")
    assert offsets_in(new, 2) == {"0": {"v": 1, "topics": at(30, 5)}}
    assert '"batch": 1' in (new / "millrace-exactly-once.json").read_text()


def test_the_first_micro_batch_is_repeated_from_where_the_query_began(tmp_path: Path) -> None:
    original = WrittenCheckpoint(tmp_path / "old").begin(0, at(10)).write("sources/0/0", INITIAL)
    new, _ = run_import(original, "--repeat-uncommitted")
    assert offsets_in(new, 0) == {"0": {"v": 1, "topics": at(10), "from": at(3)}}
    assert not (new / "millrace-exactly-once.json").exists()


@pytest.mark.parametrize(
    ("offset", "arguments", "expected"),
    [
        ({"v": 1, "topics": at(1)}, (), "no query that reads with Spark's own Kafka connector (source 0: millrace)"),
        (5, (), "(source 0: another source)"),
        ({"logOffset": 3}, (), "(source 0: another source)"),
        (at(10), ("--source", "7"), "the query has no source '7'; its sources are 0"),
        ({"logOffset": 3}, ("--source", "0"), "source '0' cannot be translated, since its offset"),
        (at(-1), (), "expected offsets from 0 by topic and partition"),
    ],
)
def test_what_cannot_be_translated_is_told(
    tmp_path: Path, offset: object, arguments: tuple[str, ...], expected: str
) -> None:
    original = WrittenCheckpoint(tmp_path / "old").begin(3, offset).commit(3)
    _, output = run_import(original, *arguments)
    assert output.startswith("millrace: ")
    assert expected in output


def test_a_first_micro_batch_without_a_beginning_cannot_be_repeated(tmp_path: Path) -> None:
    original = WrittenCheckpoint(tmp_path / "old").begin(0, at(10))
    _, output = run_import(original, "--repeat-uncommitted")
    assert (
        "does not say where source 0 began. Expected the offsets of Spark's own Kafka connector in its file" in output
    )


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "is not the checkpoint of a streaming query: it has no file 'metadata'"),
        ({"metadata": '{"id":"a"}'}, "has begun no micro-batch"),
        ({"metadata": "{}", "offsets/0": "v1\n{}\n{}"}, "names no query"),
        ({"metadata": "{}", "offsets/0": "v9\n{}\n{}"}, "offset log has version 'v9'"),
    ],
)
def test_what_is_no_checkpoint_is_told(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    for name, text in files.items():
        (tmp_path / "old" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "old" / name).write_text(text)
    done = run_command("checkpoint", "import", tmp_path / "old", tmp_path / "new")
    assert (done.exit_code, expected in done.output) == (1, True), done.output
