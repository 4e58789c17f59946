from __future__ import annotations

from pathlib import Path

import pytest

from millrace.sink.committer.completed_batches import CompletedRun, completed_run, note_completed_run
from support.records import sink_config


def config(prefix: str) -> object:
    guarantee = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": prefix}
    return sink_config(topic="orders", **guarantee)


def test_the_newest_run_of_each_prefix_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    runs = [CompletedRun("one", 3, 10.5), CompletedRun("two", 4, 11.0)]
    for run in runs:
        note_completed_run(config("a"), run)
    assert completed_run(config("a")) == runs[1]
    assert completed_run(config("b")) is None
    assert len(list(tmp_path.rglob("*.*"))) == 1


def test_a_disk_that_cannot_be_written_or_read_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    note_completed_run(config("a"), CompletedRun("one", 3, 10.5))
    assert "may need 'sink.exactly-once.if-in-doubt'" in caplog.text
    assert completed_run(config("a")) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"run": "one"}'])
def test_a_note_that_is_damaged_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    note_completed_run(config("a"), CompletedRun("one", 3, 10.5))
    (file,) = tmp_path.rglob("*.json")
    file.write_text(text)
    assert completed_run(config("a")) is None
