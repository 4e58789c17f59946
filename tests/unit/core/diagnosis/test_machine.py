"""Checks of a machine: Java, clock."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from millrace.diagnosis import machine
from millrace.diagnosis.findings import Diagnosis, Level, error, ok
from millrace.diagnosis.run import diagnose


def java(folder: Path, version: str) -> None:
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-16' >&2\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("version", "level", "message"),
    [("1.8.0_402", Level.ERROR, "Java 8 is too old for Spark"), ("21.0.2", Level.OK, "Java 21")],
)
def test_the_version_of_java_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, level: Level, message: str
) -> None:
    java(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    found = next(each for each in machine.check_machine() if each.check == "java")
    assert (found.level, found.message) == (level, message)


def test_a_missing_java_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = next(each for each in machine.check_machine() if each.check == "java")
    assert found.level == Level.ERROR
    assert "install Java 17 or 21" in found.remedy


def test_a_wrong_clock_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class FirstDay(datetime.datetime):
        @classmethod
        def now(cls, zone: object = None) -> datetime.datetime:
            return cls(1970, 1, 1, tzinfo=datetime.UTC)

    # Other modules, such as pandas, do not import with such a clock
    clock = SimpleNamespace(datetime=FirstDay, UTC=datetime.UTC, timedelta=datetime.timedelta)
    monkeypatch.setattr(machine, "datetime", clock)
    found = [each for each in machine.check_machine() if each.check == "clock"]
    assert [each.level for each in found] == [Level.ERROR]


def test_wrong_properties_are_findings() -> None:
    found = diagnose({"properties.bootstrap.servers": "127.0.0.1:1", "properties.acks": "two"}).problems
    told = [each.message for each in found if each.check == "options"]
    assert len(told) == 1
    assert "acks" in told[0]


def test_a_diagnosis_is_json() -> None:
    diagnosis = Diagnosis([ok("dns", "a:1", "is 10.0.0.1"), error("tcp", "a:1", "closed", "open it")])
    told = json.loads(diagnosis.to_json())
    assert told["sound"] is False
    assert told["findings"][1] == {
        "check": "tcp",
        "target": "a:1",
        "level": "error",
        "message": "closed",
        "remedy": "open it",
        "seen_from": "driver",
    }
