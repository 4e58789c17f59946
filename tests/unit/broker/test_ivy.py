from pathlib import Path

import pytest

from millrace.errors import MachineError
from millrace_broker import ivy
from millrace_broker.java import find_java


def test_progress_counts_the_jars_fetched_of_those_found() -> None:
    told: list[str] = []
    ivy._follow(
        ["\tfound a#b;1 in public\n", "\tfound a#c;1 in public\n", "\t[SUCCESSFUL ] a#b;1!b.jar (150ms)\n"],
        "4.1.0",
        told.append,
    )
    assert told[-1] == "fetching Apache Kafka 4.1.0: 1 of 2 jars"


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
        ivy.fetch("4.1.0", tmp_path / "new", find_java(), lambda _: None)
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
        ivy.fetch("4.1.0", tmp_path, find_java(), lambda _: None)


def test_java_is_told_of_the_proxy_that_everything_else_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    assert {"-Dhttps.proxyHost=proxy.example", "-Dhttps.proxyPort=3128"} <= set(ivy._proxy_flags())
