"""A replacement is finished wherever the process was killed, however often; on a folder of this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from millrace_catalog.sinks.atomic_replace import finish_replacement, replace_files
from millrace_catalog.sinks.table_sink import TableSinkError

BEFORE = {"0-columns-1": "old", "part-1": "old", "part-2": "old", "kept": "kept"}
AFTER = {"0-columns-2": "new", "part-3": "new", "kept": "kept"}


class Killed(BaseException):
    """The end of the process."""


class LocalFolder:
    """A `HadoopFolder` on this machine that stops after a number of operations.

    Args:
        root: The folder.
        operations: After so many the process is killed; without them, never.
    """

    def __init__(self, root: Path, operations: int | None = None) -> None:
        self.root = root
        self.left = operations

    def path(self, name):
        return str(self.root / name)

    def exists(self, name):
        return (self.root / name).exists()

    def read(self, name):
        return (self.root / name).read_text()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text[: len(text) // 2])
        self.count()
        path.write_text(text)

    def move(self, name, to):
        self.count()
        assert not self.exists(to)
        (self.root / name).rename(self.root / to)

    def delete(self, name):
        self.count()
        path = self.root / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def count(self):
        if self.left is not None:
            if self.left == 0:
                raise Killed
            self.left -= 1


def made(root):
    (root / "_millrace" / "new").mkdir(parents=True)
    for name, text in BEFORE.items():
        (root / name).write_text(text)
    for name, text in AFTER.items():
        if name != "kept":
            (root / "_millrace" / "new" / name).write_text(text)


def content(root):
    return {path.name: path.read_text() for path in root.iterdir() if path.is_file()}


def is_killed(operation):
    try:
        operation()
    except Killed:
        return True
    return False


def test_it_is_finished_or_never_began(tmp_path):
    done = []
    for first in range(12):
        for second in range(9):
            root = tmp_path / f"{first}-{second}"
            root.mkdir()
            made(root)
            killed = is_killed(
                lambda root=root, first=first: replace_files(
                    LocalFolder(root, first), ["0-columns-1", "part-1", "part-2"], ["0-columns-2", "part-3"]
                )
            )
            again = is_killed(lambda root=root, second=second: finish_replacement(LocalFolder(root, second)))
            finish_replacement(LocalFolder(root))

            done.append((killed, again, content(root) == AFTER))
            assert content(root) in (BEFORE, AFTER)
            assert not (root / "_millrace").exists()
    # Killed before and after the point of no return, and while it was being finished
    assert {(True, False, False), (True, False, True), (True, True, True), (False, False, True)} <= set(done)


def test_one_of_a_newer_millrace_is_left_alone(tmp_path):
    (tmp_path / "_millrace").mkdir()
    (tmp_path / "_millrace" / "swap.json").write_text(json.dumps({"v": 2}))
    with pytest.raises(TableSinkError, match="has version 2, and this millrace reads version 1: use the millrace that"):
        finish_replacement(LocalFolder(tmp_path))
    assert (tmp_path / "_millrace" / "swap.json").exists()
