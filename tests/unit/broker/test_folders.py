from pathlib import Path

import pytest

from millrace_broker.folders import cache_folder, state_folder


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


def test_the_state_folder_has_a_variable_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_CACHE", "/cache")
    monkeypatch.setenv("MILLRACE_STATE", "/state")
    assert state_folder() == Path("/state")
