import json
from pathlib import Path

import pytest

from millrace.errors import MachineError, OptionsError
from millrace_broker.installation import (
    MANIFEST,
    damages,
    ensure_installed,
    fetch_jars,
    proxy_options,
    report_progress,
    sha256,
)
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


def test_an_intact_cache_is_used_silently(kafka: Path) -> None:
    assert ensure_installed("4.1.0", JAVA, refuse).class_path == str(kafka / "kafka_2.13-4.1.0.jar")


def test_changed_and_missing_files_are_found(kafka: Path) -> None:
    (kafka / "kafka_2.13-4.1.0.jar").write_bytes(b"jaR")
    (kafka / "bootstrap.checkpoint").unlink()
    assert sorted(damages(kafka)) == ["bootstrap.checkpoint is missing", "kafka_2.13-4.1.0.jar has changed"]


def test_a_broken_manifest_is_damage(kafka: Path) -> None:
    (kafka / MANIFEST).write_text("{")
    assert damages(kafka) == ["its manifest is unreadable"]


def test_a_damaged_jar_is_reported_and_fetched_again(kafka: Path) -> None:
    def download(version: str, folder: Path, java: Java, progress: object) -> None:
        (folder / "kafka_2.13-4.1.0.jar").write_bytes(b"good jar")
        (folder / "bootstrap.checkpoint").write_bytes(b"record")

    (kafka / "kafka_2.13-4.1.0.jar").write_bytes(b"jaR")
    messages: list[str] = []
    ensure_installed("4.1.0", JAVA, messages.append, download)
    assert messages[0] == (
        "the cached Apache Kafka 4.1.0 is damaged (kafka_2.13-4.1.0.jar has changed), fetching it again"
    )
    assert (kafka / "kafka_2.13-4.1.0.jar").read_bytes() == b"good jar"
    assert damages(kafka) == []
    assert sorted(path.name for path in kafka.parent.iterdir()) == ["4.1.0", "4.1.0.lock"]


def test_a_fetch_that_fails_leaves_nothing_half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_CACHE", str(tmp_path))
    monkeypatch.setenv("MILLRACE_IVY_SETTINGS", str(tmp_path / "none.xml"))
    with pytest.raises(MachineError, match="no such file"):
        ensure_installed("4.1.0", find_java(), lambda _: None)
    assert [path.name for path in (tmp_path / "kafka").iterdir()] == ["4.1.0.lock"]


@pytest.mark.parametrize("version", ["2.7.2", "3.2.0", "4", "../4.1.0"])
def test_other_versions_are_refused(version: str) -> None:
    with pytest.raises(OptionsError, match=r"expected a release of Kafka 2\.8, 3\.3 or newer, such as"):
        ensure_installed(version, JAVA, refuse)


def test_progress_counts_the_jars_fetched_of_those_found() -> None:
    messages: list[str] = []
    report_progress(
        ["\tfound a#b;1 in public\n", "\tfound a#c;1 in public\n", "\t[SUCCESSFUL ] a#b;1!b.jar (150ms)\n"],
        "4.1.0",
        messages.append,
    )
    assert messages[-1] == "fetching Apache Kafka 4.1.0: 1 of 2 jars"


def test_a_repository_without_kafka_is_one_error_with_what_was_tried_and_what_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="own"/><resolvers><filesystem name="own">'
        f'<artifact pattern="{tmp_path}/empty/[artifact]-[revision].[ext]"/></filesystem></resolvers></ivysettings>'
    )
    monkeypatch.setenv("MILLRACE_IVY_SETTINGS", str(settings))
    (tmp_path / "new").mkdir()
    with pytest.raises(MachineError) as caught:
        fetch_jars("4.1.0", tmp_path / "new", find_java(), lambda _: None)
    message = str(caught.value)
    assert message.startswith(
        f"Apache Kafka 4.1.0 could not be fetched; tried with PySpark's Ivy and the settings of {settings}"
    )
    assert "org.apache.kafka#kafka_2.13;4.1.0" in message
    assert "MILLRACE_IVY_SETTINGS=FILE" in message
    assert "MILLRACE_CACHE=FOLDER" in message


def test_settings_that_do_not_exist_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_IVY_SETTINGS", "/nowhere.xml")
    with pytest.raises(MachineError, match=r"MILLRACE_IVY_SETTINGS is /nowhere\.xml, but there is no such file"):
        fetch_jars("4.1.0", tmp_path, find_java(), lambda _: None)


def test_java_is_messages_of_the_proxy_that_everything_else_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    assert {"-Dhttps.proxyHost=proxy.example", "-Dhttps.proxyPort=3128"} <= set(proxy_options())
