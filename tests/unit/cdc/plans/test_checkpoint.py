"""The start of a pipeline's next run, as its plan reads it in a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from millrace.checkpoint_folder import CheckpointFolder
from millrace.errors import MillraceError
from millrace_cdc.plans.checkpoint import read_start
from millrace_cdc.plans.model import PlannedStart


class Checkpoint:
    """A checkpoint on disk, in one version of Spark's offset log."""

    def __init__(self, folder: Path, version: str) -> None:
        self._folder, self._version = folder, version
        for name in ("offsets", "commits"):
            (folder / name).mkdir()

    def begin(self, batch: int, *sources: str) -> None:
        names = ("messages:", "other_2:") if self._version == "v2" else ("", "")
        lines = [self._version, '{"batchTimestampMs":1}', *(a + b for a, b in zip(names, sources, strict=False))]
        (self._folder / "offsets" / str(batch)).write_text("\n".join(lines))

    def commit(self, batch: int) -> None:
        (self._folder / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')

    @property
    def start(self) -> PlannedStart | None:
        return read_start(CheckpointFolder(str(self._folder)), "here")


@pytest.fixture(params=["v1", "v2"])
def checkpoint(request: pytest.FixtureRequest, tmp_path: Path) -> Checkpoint:
    return Checkpoint(tmp_path, request.param)


def at(offset: int) -> str:
    return json.dumps({"v": 1, "topics": {"orders": {"0": offset}}, "ids": {"orders": "a:b"}})


def test_a_checkpoint_without_micro_batches_has_no_start(checkpoint: Checkpoint) -> None:
    assert checkpoint.start is None


def test_a_run_goes_on_behind_the_complete_micro_batch(checkpoint: Checkpoint) -> None:
    for batch, offset in enumerate((3, 5)):
        checkpoint.begin(batch, at(offset))
        checkpoint.commit(batch)
    assert checkpoint.start == PlannedStart("here", 1, False, {"orders": {"0": 5}})


def test_a_run_repeats_the_micro_batch_that_was_begun(checkpoint: Checkpoint) -> None:
    checkpoint.begin(0, at(3))
    assert checkpoint.start == PlannedStart("here", None, True, {})
    checkpoint.commit(0)
    checkpoint.begin(7, at(5))
    assert checkpoint.start == PlannedStart("here", 0, True, {"orders": {"0": 3}})


def test_the_position_of_a_database_is_shown_as_it_is_logged(checkpoint: Checkpoint) -> None:
    checkpoint.begin(0, '{"shop.orders": {"values": [4]}}')
    checkpoint.commit(0)
    assert checkpoint.start == PlannedStart("here", 0, False, {"shop.orders": {"values": [4]}})


@pytest.mark.parametrize("nothing", ["-", "0"])
def test_a_source_without_positions_has_none(checkpoint: Checkpoint, nothing: str) -> None:
    checkpoint.begin(0, nothing)
    checkpoint.commit(0)
    assert checkpoint.start == PlannedStart("here", 0, False, {})


def test_another_version_of_the_offset_log_is_told(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, "v3")
    checkpoint.begin(0, at(3))
    checkpoint.commit(0)
    with pytest.raises(MillraceError, match="offset log has version 'v3'"):
        assert checkpoint.start
