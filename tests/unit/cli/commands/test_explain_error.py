"""``millrace explain-error``."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from millrace_cli.commands.explain_error import explain_error

LOG = "ERROR Executor: Exception in task\nmillrace.errors.ClientError: brokers are gone\n SQLSTATE: 38000\n\tat org.x\n"


def test_a_pasted_log_is_explained() -> None:
    ended = CliRunner().invoke(explain_error, input=LOG)
    assert (ended.exit_code, ended.stdout) == (0, "brokers are gone\n")


def test_a_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"\xff" + LOG.encode())
    ended = CliRunner().invoke(explain_error, [str(tmp_path / "log")])
    assert (ended.exit_code, ended.stdout) == (0, "brokers are gone\n")


def test_a_log_without_a_failure_is_said_so() -> None:
    ended = CliRunner().invoke(explain_error, input="INFO all is well\n")
    assert ended.exit_code == 1
    assert "no failure was found" in ended.stderr
