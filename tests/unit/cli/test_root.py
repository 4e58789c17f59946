import os
import subprocess
import sys
from dataclasses import dataclass

import click
import pytest
from click.testing import CliRunner

import millrace
from millrace.errors import MachineError
from millrace_cli.root import EntryPointGroup, root
from support.distributions import install_metadata

COMMANDS = ["broker", "demo", "peek", "plugins", "schema", "sql"]

HELLO = """
import click

@click.command()
@click.argument("name")
def hello(name):
    \"\"\"Greet someone.\"\"\"
    click.echo(f"hello {name}")
"""


@dataclass
class FailingCommand:
    """An entry point of a command that raises an error."""

    error: Exception
    name: str = "go"

    def load(self) -> click.Command:
        @click.command()
        def command() -> None:
            raise self.error

        return command


def failing(error):
    return EntryPointGroup("millrace", find_commands=lambda: [FailingCommand(error)])


def install(folder, distribution, entry_point, source=None):
    """Install a distribution with one command and, where given, the source of its module ``acme_hello``."""
    install_metadata(folder, distribution, {"millrace.commands": dict([entry_point.split(" = ")])})
    if source is not None:
        (folder / "acme_hello.py").write_text(source)


@pytest.fixture
def run(tmp_path):
    def call(*arguments):
        path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
        return subprocess.run(
            [sys.executable, "-m", "millrace_cli", *arguments],
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "300"},
            capture_output=True,
            text=True,
        )

    return call


def test_the_version_is_shown():
    assert CliRunner().invoke(root, ["--version"]).output == f"millrace {millrace.__version__}\n"


def test_the_help_names_every_command():
    output = CliRunner().invoke(root, ["--help"]).output
    for command in COMMANDS:
        assert command in output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    result = CliRunner().invoke(root, [command, "--help"])
    assert result.exit_code == 0
    assert f"Usage: root {command}" in result.output


def test_an_unknown_command_is_a_usage_error():
    result = CliRunner().invoke(root, ["nope"])
    assert result.exit_code == 2
    assert "No such command 'nope'" in result.output


def test_an_error_of_millrace_is_one_message_without_traceback():
    result = CliRunner().invoke(failing(MachineError("no Java here; install one")), ["go"])
    assert (result.exit_code, result.stderr, result.stdout) == (1, "millrace: no Java here; install one\n", "")


def test_any_other_error_keeps_its_traceback():
    result = CliRunner().invoke(failing(ValueError("a bug")), ["go"])
    assert isinstance(result.exception, ValueError)


def test_a_command_of_another_package_is_listed_and_runs(run, tmp_path):
    install(tmp_path, "acme-hello", "hello = acme_hello:hello", HELLO)
    listed = run("--help").stdout
    assert "hello Greet someone." in " ".join(listed.split())
    assert "broker " in listed
    assert run("hello", "world").stdout == "hello world\n"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import a_library_that_is_not_there", "ModuleNotFoundError: No module named 'a_library_that_is_not_there'"),
        ("hello = 3", "it is of type int, not a click command"),
        ("import sys\nsys.exit(7)", "SystemExit: 7"),
        ("", "AttributeError: module 'acme_hello' has no attribute 'hello'"),
    ],
)
def test_a_broken_command_is_named_and_stops_no_other(run, tmp_path, source, reason):
    install(tmp_path, "acme-hello", "hello = acme_hello:hello", source)
    problem = f"command 'hello' of acme-hello 1.2.3 cannot be loaded from 'acme_hello:hello': {reason}"
    listed = run("--help")
    assert listed.returncode == 0
    assert problem in " ".join(listed.stdout.split())
    assert "Run a real Apache Kafka on this machine." in listed.stdout
    used = run("hello", "--loud", "world")
    assert (used.returncode, used.stdout, used.stderr) == (1, "", f"millrace: {problem}\n")


def test_a_name_offered_twice_is_an_error_that_names_both_packages(run, tmp_path):
    install(tmp_path, "acme-one", "hello = acme_hello:hello", HELLO)
    install(tmp_path, "acme-two", "hello = acme_hello:hello")
    problem = "command 'hello' is offered by acme-one 1.2.3 and acme-two 1.2.3; uninstall all but one of these packages"
    used = run("hello", "world")
    assert (used.returncode, used.stdout, used.stderr) == (1, "", f"millrace: {problem}\n")
    listed = run("--help")
    assert listed.returncode == 0
    assert problem in " ".join(listed.stdout.split())
    assert "Greet someone." not in listed.stdout


def test_a_command_of_ours_is_protected_in_the_same_way(run, tmp_path):
    install(tmp_path, "acme-hello", "plugins = acme_hello:hello", HELLO)
    used = run("plugins")
    assert used.returncode == 1
    assert "command 'plugins' is offered by acme-hello 1.2.3 and millrace-cli " in used.stderr


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
commands = {"millrace_cli.commands", "millrace_broker"}
print(sorted((heavy | commands) & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_help_imports_nothing_heavy():
    program = """
import sys
sys.argv = ["millrace", "--help"]
from millrace_cli import main
try:
    main()
except SystemExit:
    pass
heavy = {"pyspark", "pyarrow", "confluent_kafka", "pydantic", "pluggy", "numpy", "pandas", "millrace_broker"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
