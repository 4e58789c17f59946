import dataclasses
import json
import os
from pathlib import Path

import pytest

from millrace_broker import background
from millrace_broker.background import BackgroundBroker
from millrace_broker.process import process_identity


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MILLRACE_STATE", str(tmp_path / "state"))
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


def note(state: Path, **fields: object) -> BackgroundBroker:
    values = {"pid": os.getpid(), "identity": "?", "bootstrap_servers": "", "version": "4.1.0", "started": 0.0}
    noted = BackgroundBroker(**{**values, "data_dir": str(state), "temporary": False, **fields})
    (state / "broker.json").write_text(json.dumps(dataclasses.asdict(noted)))
    return noted


def test_nothing_noted_is_nothing_running() -> None:
    assert background.find_running() is None
    assert background.stop() is None


def test_the_noted_process_is_found_again(state: Path) -> None:
    noted = note(state, identity=process_identity(os.getpid()))
    assert background.find_running() == noted


def test_another_process_with_the_same_id_is_never_taken_for_the_broker(state: Path) -> None:
    note(state, identity="an earlier process")
    assert background.find_running() is None
    # Were it taken for the broker, this would end the test run
    assert background.stop() is None
    assert not (state / "broker.json").exists()


def test_what_a_lost_broker_left_is_deleted(state: Path, tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.mkdir()
    note(state, data_dir=str(left), temporary=True)
    background.stop()
    assert not left.exists()


def test_a_note_that_cannot_be_read_is_no_broker(state: Path) -> None:
    (state / "broker.json").write_text("{")
    assert background.find_running() is None
