import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import millrace
from millrace.errors import MachineError
from millrace_cli.lazy import LazyGroup
from millrace_cli.root import root


@pytest.fixture
def failing():
    def group(error):
        @click.command()
        def command():
            raise error

        made = LazyGroup("millrace", commands_at={"go": f"{__name__}:command"})
        made.get_command = lambda ctx, name: command
        return made

    return group


def test_the_version_is_shown():
    assert CliRunner().invoke(root, ["--version"]).output == f"millrace {millrace.__version__}\n"


def test_the_help_names_every_command():
    output = CliRunner().invoke(root, ["--help"]).output
    for command in ("broker", "demo", "peek", "plugins", "schema"):
        assert command in output


@pytest.mark.parametrize("command", ["broker", "demo", "peek", "plugins", "schema"])
def test_every_command_has_help(command):
    result = CliRunner().invoke(root, [command, "--help"])
    assert result.exit_code == 0
    assert f"Usage: root {command}" in result.output


def test_an_unknown_command_is_a_usage_error():
    result = CliRunner().invoke(root, ["nope"])
    assert result.exit_code == 2
    assert "No such command 'nope'" in result.output


def test_an_error_of_millrace_is_one_message_without_traceback(failing):
    result = CliRunner().invoke(failing(MachineError("no Java here; install one")), ["go"])
    assert (result.exit_code, result.stderr, result.stdout) == (1, "millrace: no Java here; install one\n", "")


def test_any_other_error_keeps_its_traceback(failing):
    result = CliRunner().invoke(failing(ValueError("a bug")), ["go"])
    assert isinstance(result.exception, ValueError)


def test_starting_imports_no_command_and_nothing_heavy():
    program = """
import sys
sys.argv = ["millrace", "--version"]
from millrace_cli import main
try:
    main()
except SystemExit:
    pass
heavy = {"pyspark", "pyarrow", "confluent_kafka", "pydantic", "pluggy", "numpy", "pandas"}
commands = {"millrace_cli.demo_command", "millrace_cli.plugins", "millrace_cli.broker", "millrace_broker"}
print(sorted((heavy | commands) & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
