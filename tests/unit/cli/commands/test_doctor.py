"""``millrace doctor``: what it prints, and its exit code."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from click.testing import CliRunner

from millrace.diagnosis import run
from millrace.diagnosis.findings import Diagnosis, Finding, Level, ok
from millrace_cli.commands.doctor import doctor

SOUND = ok("java", "/usr/bin/java", "Java 17")
AHEAD = Finding("clock", "broker 1", Level.WARNING, "is ahead", "set the clock")
NO_LOGIN = Finding("login", "broker 1", Level.ERROR, "is refused", "check the password", seen_from="host-2")


@pytest.mark.parametrize(
    ("findings", "code", "printed"),
    [
        ([SOUND], 0, ["ok      java: /usr/bin/java: Java 17", "0 errors, 0 warnings"]),
        ([AHEAD], 0, ["WARNING clock: broker 1: is ahead", "         -> set the clock", "0 errors, 1 warning"]),
        (
            [SOUND, AHEAD, NO_LOGIN],
            1,
            [
                "ok      java: /usr/bin/java: Java 17",
                "WARNING clock: broker 1: is ahead",
                "         -> set the clock",
                "ERROR   login: broker 1: is refused [from host-2]",
                "         -> check the password",
                "1 error, 1 warning",
            ],
        ),
    ],
)
def test_errors_alone_make_the_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, findings: list[Finding], code: int, printed: list[str]
) -> None:
    monkeypatch.setattr(run, "diagnose", lambda *_, **__: Diagnosis(findings))

    shown = CliRunner().invoke(doctor, [])
    assert (shown.stdout.splitlines(), shown.exit_code) == (printed, code)

    as_json = CliRunner().invoke(doctor, ["--json"])
    assert (json.loads(as_json.stdout)["sound"], as_json.exit_code) == (code == 0, code)


def test_a_broker_that_is_not_there_makes_the_exit_code_1() -> None:
    # Bound and not listening, so that nobody else listens there meanwhile
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{unused.getsockname()[1]}"
        ended = CliRunner().invoke(doctor, ["--bootstrap-servers", nobody, "--json"])

    told: Any = json.loads(ended.stdout)
    assert ("tcp", nobody) in {(each["check"], each["target"]) for each in told["findings"] if each["level"] == "error"}
    assert (ended.exit_code, told["sound"]) == (1, False)


@pytest.mark.parametrize("wrong", [["--nonsense"], ["--config", "/not/there"], ["--property", "no-value"]])
def test_a_wrong_command_line_makes_the_exit_code_2(wrong: list[str]) -> None:
    assert CliRunner().invoke(doctor, wrong).exit_code == 2
