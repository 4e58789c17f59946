"""The files of Spark's state stores in a checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from millrace_cli.checkpoints.state import StateVersion, find_operators, parse_state_file, stores_without
from millrace_cli.checkpoints.store import CheckpointStore
from support.checkpoints import WrittenCheckpoint

OPERATOR = '{"operatorInfo":{"operatorId":1,"operatorName":"transformWithStateExec"}}'


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("state/0/1/7.delta", StateVersion("state/0/1", 0, 7, is_full=False)),
        ("state/2/1/7.snapshot", StateVersion("state/2/1", 2, 7, is_full=True)),
        ("state/0/1/left-keyToNumValues/7.zip", StateVersion("state/0/1/left-keyToNumValues", 0, 7, is_full=True)),
        ("state/0/1/7_6f1c-aa.changelog", StateVersion("state/0/1", 0, 7, is_full=False)),
        ("state/0/1/7_6f1c-aa.zip", StateVersion("state/0/1", 0, 7, is_full=True)),
    ],
)
def test_a_file_is_a_version_of_a_store(path: str, version: StateVersion) -> None:
    assert parse_state_file(path) == version


@pytest.mark.parametrize(
    "path",
    [
        "state/0/1/SSTs/000012-6f1c.sst",
        "state/0/1/logs/000011-6f1c.log",
        "state/0/1/_metadata/schema",
        "state/0/_metadata/metadata",
        "state/0/1/.7.delta.crc",
        "state/orders/0f/orders/0/00000000000000000020.snapshot",
        "offsets/7",
    ],
)
def test_other_files_are_none(path: str) -> None:
    assert parse_state_file(path) is None


@pytest.mark.parametrize(
    ("names", "version", "is_there"),
    [
        (("1.delta", "2.delta", "3.delta"), 2, True),
        (("2.delta", "3.delta"), 3, False),
        (("2.snapshot", "3.delta", "4.delta"), 4, True),
        (("2.snapshot", "4.delta"), 4, False),
        (("3.snapshot", "4.delta"), 2, False),
        (("1_a.changelog", "2_b.zip", "3_c.changelog"), 3, True),
    ],
)
def test_a_version_needs_a_whole_one_and_all_changes_since_then(
    names: tuple[str, ...], version: int, is_there: bool
) -> None:
    assert stores_without([f"state/0/0/{name}" for name in names], version) == ([] if is_there else ["state/0/0"])


def test_operators_are_counted_and_named_by_their_metadata(tmp_path: Path) -> None:
    written = WrittenCheckpoint(tmp_path).keep_state("1.delta", "2.delta").keep_state("1.delta", store="0/1/left")
    written.keep_state("3.zip", store="1/0").write("state/1/_metadata/v2/2", f"v2\n{OPERATOR}")
    store = CheckpointStore(str(tmp_path))
    first, second = find_operators(store, store.list_files())
    assert (first.number, first.name, first.partitions, first.version) == (0, "", 2, 2)
    assert (second.number, second.name, second.partitions, second.version) == (1, "transformWithStateExec", 1, 3)
    assert second.size == len("3.zip") + len(f"v2\n{OPERATOR}") + 2 * len(b"crc\0")
