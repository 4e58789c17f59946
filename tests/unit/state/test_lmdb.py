"""The state backend in LMDB."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from millrace.contracts import StateBackend
from millrace.errors import MachineError
from millrace.plugins import STATE_BACKEND, plugin_manager
from millrace.testing import StateBackendSuite
from millrace_state import lmdb_backend
from millrace_state.lmdb_backend import LmdbBackend, LmdbOptions


class TestLmdb(StateBackendSuite):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make_backend(self) -> StateBackend:
        return LmdbBackend(LmdbOptions(local_dir=str(self.folder)))


def test_it_is_found_by_its_name() -> None:
    assert plugin_manager().load(STATE_BACKEND, "lmdb") is LmdbBackend


def put(backend: LmdbBackend, count: int) -> None:
    with backend.open("a").writer() as writer:
        writer.put([(b"%08d" % number, b"v" * 1_000) for number in range(count)])
        writer.commit(b"1")


def test_what_is_from_before_the_machine_started_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = LmdbBackend(LmdbOptions(local_dir=str(tmp_path)))
    put(backend, 1)
    monkeypatch.setattr(lmdb_backend, "_boot_id", lambda: "a later start")
    with backend.open("a").view() as view:
        assert (view.marker, view.size) == (None, 0)


def test_the_size_in_bytes_is_what_the_file_takes_on_the_disk(tmp_path: Path) -> None:
    backend = LmdbBackend(LmdbOptions(local_dir=str(tmp_path)))
    put(backend, 20_000)
    with backend.open("a").view() as view:
        size = view.size_bytes
    on_disk = (tmp_path / "a" / "data.mdb").stat().st_blocks * 512
    assert size > 20_000 * 8
    assert size == pytest.approx(on_disk, rel=0.1)


def test_what_tells_the_start_of_the_machine_is_never_there_in_part(tmp_path: Path) -> None:
    put(LmdbBackend(LmdbOptions(local_dir=str(tmp_path))), 1)
    lmdb_backend._forget_stores()
    boot = tmp_path / "a" / "boot"
    with boot.open() as reader:
        put(LmdbBackend(LmdbOptions(local_dir=str(tmp_path))), 1)
        # Replaced: a process that has it open goes on with the file that it opened
        assert os.fstat(reader.fileno()).st_nlink == 0
        assert reader.read() == boot.read_text()
    assert [file.name for file in boot.parent.glob("boot*")] == ["boot"]


def test_a_machine_without_boot_ids_flushes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lmdb_backend, "_boot_id", lambda: "")
    backend = LmdbBackend(LmdbOptions(local_dir=str(tmp_path)))
    put(backend, 2)
    store = backend.open("a")
    with store.view() as view:
        assert view.size == 2
    assert store._env.flags()["sync"]


def test_a_store_that_becomes_too_large_names_the_option(tmp_path: Path) -> None:
    backend = LmdbBackend(LmdbOptions(local_dir=str(tmp_path), max_size=200_000))
    with pytest.raises(MachineError, match=r"larger than option 'state.backend.max-size' allows"):
        put(backend, 1_000)
    put(backend, 1)


def test_a_full_disk_is_told_before_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = LmdbBackend(LmdbOptions(local_dir=str(tmp_path)))
    monkeypatch.setattr(lmdb_backend, "_MIN_FREE_BYTES", 1 << 60)
    with pytest.raises(MachineError, match="its disk is full"):
        put(backend, 1)


def test_a_folder_that_cannot_be_written_names_the_option(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match=r"another folder on a local disk by option 'state.backend.local-dir'"):
        LmdbBackend(LmdbOptions(local_dir=str(tmp_path / "file"))).open("a")


def test_stores_that_nobody_opens_any_more_are_deleted(tmp_path: Path) -> None:
    backend = LmdbBackend(LmdbOptions(local_dir=str(tmp_path)))
    for name in ("ended", "quiet"):
        backend.open(name)
    days_ago = time.time() - 4 * 86_400
    os.utime(tmp_path / "ended" / "boot", (days_ago, days_ago))
    backend.open("new")
    assert {folder.name for folder in tmp_path.iterdir()} == {"quiet", "new"}
