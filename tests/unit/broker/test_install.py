import json
from pathlib import Path

import pytest

from millrace.errors import MachineError, OptionsError
from millrace_broker import install, ivy, storage
from millrace_broker.checksum import sha256
from millrace_broker.install import MANIFEST, ensure_installed, faults
from millrace_broker.java import Java, find_java

JAVA = Java(Path("/usr/bin/java"), 17, "17")


@pytest.fixture
def kafka(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cached Kafka of two files."""
    monkeypatch.setenv("MILLRACE_CACHE", str(tmp_path))
    folder = tmp_path / "kafka" / "4.1.0"
    folder.mkdir(parents=True)
    (folder / "kafka_2.13-4.1.0.jar").write_bytes(b"jar")
    (folder / "bootstrap.checkpoint").write_bytes(b"record")
    checksums = {path.name: sha256(path) for path in folder.iterdir()}
    (folder / MANIFEST).write_text(json.dumps({"sha256": checksums}))
    return folder


def refuse(message: str) -> None:
    raise AssertionError(message)


def test_a_whole_cache_is_used_without_a_word(kafka: Path) -> None:
    assert ensure_installed("4.1.0", JAVA, refuse).class_path == str(kafka / "kafka_2.13-4.1.0.jar")


def test_changed_and_missing_files_are_found(kafka: Path) -> None:
    (kafka / "kafka_2.13-4.1.0.jar").write_bytes(b"jaR")
    (kafka / "bootstrap.checkpoint").unlink()
    assert sorted(faults(kafka)) == ["bootstrap.checkpoint is missing", "kafka_2.13-4.1.0.jar has changed"]


def test_a_broken_manifest_is_a_fault(kafka: Path) -> None:
    (kafka / MANIFEST).write_text("{")
    assert faults(kafka) == ["its manifest is unreadable"]


def test_a_damaged_jar_is_said_and_fetched_anew(kafka: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(version: str, folder: Path, java: Java, progress: object) -> None:
        (folder / ".ivy").mkdir()
        (folder / "kafka_2.13-4.1.0.jar").write_bytes(b"good jar")

    def make_template(java: Java, class_path: str, folder: Path) -> None:
        (folder / "bootstrap.checkpoint").write_bytes(b"record")

    monkeypatch.setattr(ivy, "fetch", fetch)
    monkeypatch.setattr(storage, "make_template", make_template)
    (kafka / "kafka_2.13-4.1.0.jar").write_bytes(b"jaR")
    told: list[str] = []
    ensure_installed("4.1.0", JAVA, told.append)
    assert told[0] == "the cached Apache Kafka 4.1.0 is damaged (kafka_2.13-4.1.0.jar has changed), fetching it anew"
    assert (kafka / "kafka_2.13-4.1.0.jar").read_bytes() == b"good jar"
    assert faults(kafka) == []
    assert sorted(path.name for path in kafka.parent.iterdir()) == ["4.1.0", "4.1.0.lock"]


def test_a_fetch_that_fails_leaves_nothing_half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_CACHE", str(tmp_path))
    monkeypatch.setenv("MILLRACE_IVY_SETTINGS", str(tmp_path / "none.xml"))
    with pytest.raises(MachineError, match="no such file"):
        ensure_installed("4.1.0", find_java(), lambda _: None)
    assert [path.name for path in (tmp_path / "kafka").iterdir()] == ["4.1.0.lock"]


@pytest.mark.parametrize("version", ["3.9.0", "4", "../4.1.0"])
def test_other_versions_are_refused(version: str) -> None:
    with pytest.raises(OptionsError, match="is no release of Kafka 4, such as"):
        install.ensure_installed(version, JAVA, refuse)
