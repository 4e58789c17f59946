"""The command line of ``millrace plan``; the plans themselves are tested on a broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from millrace_cli.commands.plan import plan
from millrace_cli.commands.why import why
from millrace_cli.errors import CommandError
from millrace_cli.planned_files import PlannedFile, plan_file


def run(*arguments: str) -> Result:
    return CliRunner().invoke(plan, arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "give a FILE, or a job by --topic and --option"),
        (("shop.yaml", "--topic", "orders"), "not both"),
        (("shop.yaml", "--write"), "not both"),
        (("--topic", "orders", "--count-limit", "-1"), "--count-limit"),
        (("--bootstrap-servers", "h:1", "--topic", "a", "--where", "offset > 5", "--stream"), "--where is for batches"),
    ],
)
def test_a_wrong_command_line_is_told(arguments: tuple[str, ...], expected: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert expected in done.output


def test_why_needs_a_read() -> None:
    done = CliRunner().invoke(why, ["--bootstrap-servers", "h:1"])
    assert (done.exit_code, "give the read by --topic" in done.output) == (2, True)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"no job that can be planned: files that can end with .*\.sql"):
        plan_file(PlannedFile(tmp_path / "job.txt"))
