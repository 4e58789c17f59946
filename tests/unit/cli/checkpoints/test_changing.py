"""Copies of checkpoints for another query, and for another topic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.checkpoints import QUERY, WrittenCheckpoint, files_in, offsets_in
from support.command_line import run_command

OWNER = "0f" * 16
OFFSET = {
    "v": 1,
    "topics": {"orders": {"0": 20}, "paid": {"0": 4}},
    "from": {"orders": {"0": 10}},
    "stop": {"orders": {"0": 90}},
    "epochs": {"orders": {"0": 3}, "paid": {"0": 1}},
    "ids": {"orders": "id-of-orders", "paid": "id-of-paid"},
    "owner": OWNER,
    "gone": {"topics": {"orders": {"1": 7}}, "since": {"orders": 1}, "epochs": {"orders": {"1": 2}}},
}


@pytest.fixture
def original(tmp_path: Path) -> WrittenCheckpoint:
    written = WrittenCheckpoint(tmp_path / "old").begin(0, OFFSET).commit(0).keep_state("1.delta")
    return written.write(f"state/orders/{OWNER}/orders/0/00000000000000000020.snapshot", "rows")


def copy(command: str, original: WrittenCheckpoint, *arguments: str) -> tuple[Path, str]:
    new = original.folder.parent / "new"
    done = run_command("checkpoint", command, original.folder, new, *arguments)
    assert (done.exit_code == 0) == new.exists()
    return new, done.output


def test_a_fork_is_another_query_and_owns_its_state(original: WrittenCheckpoint) -> None:
    new, _ = copy("fork", original)
    (owner,) = (offset["owner"] for offset in offsets_in(new, 0).values())
    assert owner != OWNER
    assert offsets_in(new, 0) == {"0": {**OFFSET, "owner": owner}}
    assert f"state/orders/{owner}/orders/0/00000000000000000020.snapshot" in files_in(new)
    query = json.loads((new / "metadata").read_text())["id"]
    assert query != QUERY
    assert json.loads((new / "millrace-exactly-once.json").read_text())["query"] == query


def test_a_topic_is_renamed_wherever_it_stands_and_its_id_is_forgotten(original: WrittenCheckpoint) -> None:
    new, _ = copy("rename-topic", original, "orders", "shop.orders")
    assert offsets_in(new, 0)["0"] == {
        "v": 1,
        "topics": {"paid": {"0": 4}, "shop.orders": {"0": 20}},
        "from": {"shop.orders": {"0": 10}},
        "stop": {"shop.orders": {"0": 90}},
        "epochs": {"paid": {"0": 1}},
        "ids": {"paid": "id-of-paid"},
        "owner": OWNER,
        "gone": {"topics": {"shop.orders": {"1": 7}}, "since": {"shop.orders": 1}},
    }
    assert f"state/orders/{OWNER}/shop.orders/0/00000000000000000020.snapshot" in files_in(new)
    assert json.loads((new / "metadata").read_text())["id"] == QUERY


def test_folders_of_sparks_state_are_no_topics(tmp_path: Path) -> None:
    offset = {"v": 1, "topics": {"0": {"0": 20}}, "owner": OWNER}
    original = WrittenCheckpoint(tmp_path / "old").begin(0, offset).commit(0).keep_state("1.delta")
    new, _ = copy("rename-topic", original, "0", "1")
    assert "state/0/0/1.delta" in files_in(new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("audit", "log", "does not read topic 'audit' with millrace; it reads orders, paid"),
        ("orders", "paid", "reads topic 'paid' already"),
    ],
)
def test_a_topic_that_cannot_be_renamed_is_told(original: WrittenCheckpoint, old: str, new: str, expected: str) -> None:
    assert expected in copy("rename-topic", original, old, new)[1]


@pytest.mark.parametrize("folder", ["millrace-schema", "millrace-pipeline"])
def test_columns_that_are_kept_by_topic_cannot_be_renamed(original: WrittenCheckpoint, folder: str) -> None:
    original.write(f"{folder}/0", "{}")
    assert (
        "keeps the columns of tables by the names of their topics" in copy("rename-topic", original, "orders", "a")[1]
    )


@pytest.mark.parametrize("command", ["fork", "rename-topic"])
def test_what_was_begun_is_told(original: WrittenCheckpoint, command: str) -> None:
    original.begin(1, {**OFFSET, "from": {}})
    names = ("orders", "a") if command == "rename-topic" else ()
    assert "micro-batch 1 of the query is not complete" in copy(command, original, *names)[1]
    assert copy(command, original, *names, "--repeat-uncommitted")[0].exists()
