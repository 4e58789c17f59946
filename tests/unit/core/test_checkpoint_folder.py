"""Files in a checkpoint's folder, on a disk and in a store that speaks as S3 does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from millrace.checkpoint_folder import UNREACHABLE, CheckpointFolder
from millrace.worker import RESOURCES
from support.object_store import Bucket, object_store

OBJECTS = {"cp/offsets/0": b"first", "cp/offsets/1": b"second", "cp/metadata": b"{}"}


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """A bucket that lists and gives its objects, and takes none."""
    with object_store(monkeypatch, OBJECTS, is_read_only=True) as bucket:
        yield bucket
    RESOURCES.drop(UNREACHABLE)


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "{}/"])
def test_a_folder_on_a_disk_is_read_and_written_by_each_of_its_names(tmp_path: Path, form: str) -> None:
    root = tmp_path / "with blank %20"
    (root / "offsets").mkdir(parents=True)
    (root / "offsets" / "7").write_text("text")
    folder = CheckpointFolder(form.format(root))
    assert folder.names("offsets") == ["7"]
    assert folder.read("offsets/7") == "text"
    folder.write("note", "new")
    folder.write("note", "newer")
    assert (root / "note").read_text() == "newer"


def test_a_folder_that_is_relative_begins_where_the_process_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    CheckpointFolder("checkpoints").write("note", "text")
    assert (tmp_path / "checkpoints" / "note").read_text() == "text"


@pytest.mark.parametrize("location", ["/none/such", "hdfs://node/checkpoints", "dbfs:/checkpoints", "/a\0b"])
def test_what_cannot_be_read_is_an_error_of_input_and_output(location: str) -> None:
    with pytest.raises(OSError, match=r"."):
        CheckpointFolder(location).names("offsets")


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_a_folder_in_an_object_store_is_read_by_sparks_name(store: Bucket, scheme: str) -> None:
    folder = CheckpointFolder(f"{scheme}://bucket/cp/")
    assert folder.names("offsets") == ["0", "1"]
    assert folder.read("offsets/1") == "second"
    with pytest.raises(FileNotFoundError):
        folder.read("note")
    assert folder.read("metadata") == "{}"


def test_a_store_that_refuses_is_not_asked_again(store: Bucket) -> None:
    folder = CheckpointFolder("s3a://bucket/cp")
    with pytest.raises(OSError, match="note"):
        folder.write("note", "text")
    asked = len(store.requests)
    with pytest.raises(OSError, match="could not be reached before"):
        folder.names("offsets")
    assert len(store.requests) == asked > 0
