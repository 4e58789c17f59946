"""Copies of checkpoints are whole or not there."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from millrace.errors import MillraceError
from millrace.offset_log import INCOMPLETE
from millrace_cli.checkpoints.copying import CopyPlan, copy_checkpoint
from millrace_cli.checkpoints.kafka_import import plan_import
from millrace_cli.checkpoints.reading import read_checkpoint
from millrace_cli.checkpoints.store import CheckpointStore
from support.checkpoints import WrittenCheckpoint, files_in, offsets_in
from support.command_line import run_command
from support.object_store import object_store
from support.waiting import wait_until

COMMAND = "from millrace_cli.commands.checkpoint import checkpoint; checkpoint()"
STATE_FILES = 1000
CHECKSUMS_OF_OFFSETS = ("offsets/.3.crc", "offsets/.4.crc")


class ObjectStore(CheckpointStore):
    """A folder whose files appear one by one under their names, since it cannot be renamed."""

    @property
    def has_rename(self) -> bool:
        return False


@pytest.fixture
def original(tmp_path: Path) -> WrittenCheckpoint:
    written = WrittenCheckpoint(tmp_path / "old").begin(3, {"orders": {"0": 5}}).begin(4, {"orders": {"0": 9}})
    return written.commit(3, 4).keep_state("5.delta")


def test_a_folder_that_is_there_is_not_touched(original: WrittenCheckpoint, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "other").write_text("text")
    done = run_command("checkpoint", "import", original.folder, tmp_path / "new")
    assert (done.exit_code, "new exists already: give a new folder for the copy" in done.output) == (1, True)
    assert files_in(tmp_path / "new") == {"other": b"text"}


@pytest.mark.parametrize("form", ["{}/new", "file:{}/new", "{}/new/", "file://{}/deep/er/new"])
def test_a_folder_that_is_missing_or_empty_is_filled(original: WrittenCheckpoint, tmp_path: Path, form: str) -> None:
    (tmp_path / "new").mkdir()
    done = run_command("checkpoint", "import", original.folder, form.format(tmp_path))
    assert done.exit_code == 0, done.output
    (new,) = (file.parent for file in tmp_path.rglob("metadata") if file.parent != original.folder)
    assert new.name == "new"
    assert offsets_in(new, 4) == {"0": {"v": 1, "topics": {"orders": {"0": 9}}}}


@pytest.mark.parametrize("store", [CheckpointStore, ObjectStore])
def test_a_query_that_goes_on_meanwhile_is_told_and_nothing_is_left(
    original: WrittenCheckpoint, tmp_path: Path, store: type[CheckpointStore]
) -> None:
    found = read_checkpoint(str(original.folder))
    plan = plan_import(found)
    original.begin(5, {"orders": {"0": 12}})
    with pytest.raises(MillraceError, match="changes while it is copied: stop its query first"):
        copy_checkpoint(found, plan, store(str(tmp_path / "new")))
    assert [each.name for each in tmp_path.iterdir()] == ["old"]


def test_an_object_store_has_a_copy_that_nobody_starts_with_until_it_is_whole(
    original: WrittenCheckpoint, tmp_path: Path
) -> None:
    seen = []

    class Watched(ObjectStore):
        def write(self, name: str, text: str) -> None:
            super().write(name, text)
            seen.append((name, text.split("\n")[0], len(files_in(tmp_path / "new"))))

    found = read_checkpoint(str(original.folder))
    copy_checkpoint(found, plan_import(found), Watched(str(tmp_path / "new")))
    (first, *_), (*_, last) = seen, seen
    whole = len(files_in(tmp_path / "new"))
    assert (first, last) == (("offsets/4", INCOMPLETE, 1), ("offsets/4", "v1", whole))
    assert {version for name, version, _ in seen[:-1] if name == "offsets/4"} == {INCOMPLETE}
    assert offsets_in(tmp_path / "new", 4) == {"0": {"v": 1, "topics": {"orders": {"0": 9}}}}


def test_a_checkpoint_is_copied_from_a_disk_into_an_object_store_and_back(
    original: WrittenCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects: dict[str, bytes] = {}
    with object_store(monkeypatch, objects) as bucket:
        done = run_command("checkpoint", "import", original.folder, "s3a://bucket/cp/orders")
        assert (done.exit_code, done.output) == (0, f"copied {len(objects)} files to s3a://bucket/cp/orders\n")
        written = [key for method, key in bucket.requests if method in ("PUT", "POST")]
        assert (written[0], written[-1]) == ("cp/orders/offsets/4", "cp/orders/offsets/4")
        refused = run_command("checkpoint", "fork", "s3a://bucket/cp/orders", "s3://bucket/cp/orders")
        assert "s3://bucket/cp/orders exists already" in refused.output
        back = run_command("checkpoint", "fork", "s3://bucket/cp/orders", tmp_path / "back")
        assert back.exit_code == 0, back.output
    assert offsets_in(tmp_path / "back", 4) == {"0": {"v": 1, "topics": {"orders": {"0": 9}}}}
    assert (tmp_path / "back" / "state/0/0/5.delta").read_bytes() == objects["cp/orders/state/0/0/5.delta"]


def test_a_copy_that_fails_in_an_object_store_leaves_nothing(
    original: WrittenCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects: dict[str, bytes] = {}
    found = read_checkpoint(str(original.folder))
    plan = plan_import(found)
    original.begin(5, {"orders": {"0": 12}})
    with object_store(monkeypatch, objects), pytest.raises(MillraceError, match="changes while it is copied"):
        copy_checkpoint(found, plan, CheckpointStore("s3://bucket/cp"))
    assert not any(objects.values())


def test_a_copy_that_is_half_is_no_checkpoint(original: WrittenCheckpoint) -> None:
    original.write("offsets/4", f"{INCOMPLETE}\n")
    done = run_command("checkpoint", "show", original.folder)
    assert (done.exit_code, "the checkpoint is a copy that is incomplete" in done.output) == (1, True)


def test_a_copy_without_changes_has_the_same_files(original: WrittenCheckpoint, tmp_path: Path) -> None:
    found = read_checkpoint(str(original.folder))
    copy_checkpoint(found, CopyPlan.of(found), CheckpointStore(str(tmp_path / "new")))
    assert files_in(tmp_path / "new") == files_in(original.folder)


def test_a_copy_that_is_killed_leaves_nothing_half(original: WrittenCheckpoint, tmp_path: Path) -> None:
    original.keep_state(*(f"{number}.delta" for number in range(STATE_FILES)), store="0/1")
    before = files_in(original.folder)
    for part in (0, 1 / 3, 2 / 3):
        new = kill_copy(original.folder, tmp_path / "copies", at_least=int(part * STATE_FILES))
        assert not new.exists()
        assert files_in(original.folder) == before
    done = run_command("checkpoint", "import", original.folder, new)
    assert done.exit_code == 0, done.output
    (left,) = new.parent.glob(f".{new.name}.*.incomplete")
    assert f"delete {left}: it is left of a copy that was killed" in done.output
    assert len(files_in(new)) == len(before) - len(CHECKSUMS_OF_OFFSETS) + 1


def kill_copy(original: Path, folder: Path, at_least: int) -> Path:
    """Kill a copy that has some files already, and return its place; one that was too quick is made again."""
    for attempt in itertools.count():
        new = folder / f"{at_least}-{attempt}"
        command = [sys.executable, "-c", COMMAND, "import", str(original), str(new)]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL)

        def is_far_enough(new: Path = new, running: subprocess.Popen[bytes] = running) -> bool:
            stores = folder.glob(f".{new.name}.*.incomplete/state/0/1")
            return running.poll() is not None or any(sum(1 for _ in os.scandir(store)) > at_least for store in stores)

        wait_until(is_far_enough, "a copy that is under way", interval_s=0.001)
        running.kill()
        if running.wait() == -signal.SIGKILL:
            return new
    raise AssertionError
