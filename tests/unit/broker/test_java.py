from pathlib import Path

import pytest

from millrace.errors import MachineError
from millrace_broker import KafkaBroker
from millrace_broker.java import find_java, install_hint


def fake_program(folder: Path, name: str, said: str = "") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_no_java_at_all_says_so_and_how_to_get_it(no_java: Path) -> None:
    with pytest.raises(MachineError, match=r"Kafka needs Java 17 or newer, .* no java on PATH\. Install"):
        find_java()


def test_a_broker_without_java_ends_before_anything_else_starts(
    no_java: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MILLRACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    broker = KafkaBroker(data_dir=tmp_path / "data")
    with pytest.raises(MachineError, match="no java on PATH"):
        broker.start()
    assert broker.guard_pid is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("said", "version"), [('openjdk version "11.0.2" 2019-01-15', 11), ('java version "1.8.0_1"', 8)]
)
def test_an_old_java_is_named_with_its_version_and_path(no_java: Path, said: str, version: int) -> None:
    path = fake_program(no_java, "java", said)
    with pytest.raises(MachineError, match=rf"{path} \(from PATH\) is Java {version}\. "):
        find_java()


def test_a_new_java_is_found_on_path(no_java: Path) -> None:
    path = fake_program(no_java, "java", 'openjdk version "21.0.1" 2023-10-17')
    assert (find_java().path, find_java().version) == (path, 21)


def test_java_home_wins_over_path(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program(no_java, "java", 'openjdk version "21"')
    path = fake_program(no_java / "home", "bin/java", 'openjdk version "17.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(no_java / "home"))
    assert (find_java().path, find_java().version) == (path, 17)


def test_a_java_home_without_java_is_an_error_not_passed_over(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program(no_java, "java", 'openjdk version "21"')
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(MachineError, match="JAVA_HOME is /nowhere, but that folder has no program bin/java"):
        find_java()


def test_a_program_that_is_no_java_is_quoted(no_java: Path) -> None:
    fake_program(no_java, "java", "please install java")
    with pytest.raises(MachineError, match="reports no Java version; its output: please install java"):
        find_java()


def test_the_hint_is_for_the_package_manager_of_this_system(no_java: Path) -> None:
    assert install_hint(search_folders=()).startswith("Install one from https://adoptium.net")
    fake_program(no_java, "apk")
    assert install_hint(search_folders=()) == "Install it with: sudo apk add openjdk17-jre-headless"
