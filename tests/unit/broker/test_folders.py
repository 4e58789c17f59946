import subprocess
import sys
from pathlib import Path

import pytest

from millrace_broker.folders import cache_folder, exclusive_lock, state_folder


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"MILLRACE_CACHE": "/own", "XDG_CACHE_HOME": "/shared"}, "/own"),
        ({"XDG_CACHE_HOME": "/shared"}, "/shared/millrace"),
        ({"HOME": "/home/someone"}, "/home/someone/.cache/millrace"),
    ],
)
def test_the_cache_folder_is_the_most_particular_one(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MILLRACE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"MILLRACE_STATE": "~/own"}, "/home/someone/own"),
        ({"XDG_STATE_HOME": "/shared"}, "/shared/millrace"),
        ({}, "/home/someone/.local/state/millrace"),
    ],
)
def test_the_state_folder_is_the_most_particular_one(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MILLRACE_STATE", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/someone", **variables}.items():
        monkeypatch.setenv(name, value)
    assert state_folder() == Path(expected)


def test_a_lock_excludes_other_processes_and_its_file_stays(tmp_path: Path) -> None:
    lock = tmp_path / "new" / "a.lock"
    program = "import sys; from filelock import FileLock; FileLock(sys.argv[1]).acquire(timeout=0)"

    def take_elsewhere() -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", program, str(lock)], capture_output=True, text=True)

    with exclusive_lock(lock):
        assert "Timeout" in take_elsewhere().stderr
    assert lock.exists()
    assert take_elsewhere().returncode == 0


def test_the_state_folder_has_a_variable_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_CACHE", "/cache")
    monkeypatch.setenv("MILLRACE_STATE", "/state")
    assert state_folder() == Path("/state")
