"""``millrace record``: options that do not go together."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from millrace_cli.commands.record import record


def test_options_of_a_registry_need_one(tmp_path: Path) -> None:
    arguments = ["orders", str(tmp_path / "orders.jsonl"), "--registry-option", "bearer-auth.token=x"]
    ended = CliRunner().invoke(record, arguments)
    assert (ended.exit_code, "--registry-option requires --registry" in ended.output) == (2, True)


@pytest.mark.parametrize(
    "format_arguments", [["--format", "json"], ["--option", "format=json"], ["--option", "value.format=json"]]
)
def test_formats_are_refused_without_a_condition(format_arguments: list[str], tmp_path: Path) -> None:
    arguments = ["orders", str(tmp_path / "orders.jsonl"), "--bootstrap-servers", "localhost:1", *format_arguments]
    ended = CliRunner().invoke(record, arguments)
    assert ended.exit_code == 2
    assert "--format and --schema are for --where, and so are options of formats" in ended.output
