from pathlib import Path

import pytest

from millrace.errors import MachineError
from millrace_broker import archive
from millrace_broker.checksum import sha256
from millrace_broker.install import Install
from millrace_broker.java import Java
from millrace_broker.program import Settings

JAVA = Java(Path("/usr/bin/java"), 17, "17.0.1")


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """An install with an archive for one Java."""
    found = tmp_path / f"classes-{archive._name_of(JAVA)}.jsa"
    found.write_bytes(b"classes")
    found.with_suffix(".sha256").write_text(sha256(found))
    return Install("4.1.0", tmp_path)


def test_a_whole_archive_is_used(install: Install) -> None:
    found = archive.ensure_archive(JAVA, install, Settings(pytest.fail))
    assert found == install.folder / f"classes-{archive._name_of(JAVA)}.jsa"


def test_a_damaged_archive_is_not_used_and_made_anew(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []
    monkeypatch.setattr(archive, "_make", lambda path, *_: made.append(path))
    damaged = install.folder / f"classes-{archive._name_of(JAVA)}.jsa"
    damaged.write_bytes(b"class")
    archive.ensure_archive(JAVA, install, Settings(lambda _: None))
    assert made == [damaged]


def test_another_java_has_another_archive(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MachineError("no such Java here")

    monkeypatch.setattr(archive, "_make", fail)
    told: list[str] = []
    other = Java(JAVA.path, 21, "21.0.1")
    assert archive.ensure_archive(other, install, Settings(told.append)) is None
    assert told[-1] == "Apache Kafka 4.1.0 will start slowly: no such Java here"
