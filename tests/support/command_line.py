"""Commands of millrace as users run them, in the process of the test."""

from __future__ import annotations

from importlib.metadata import EntryPoint

from click.testing import CliRunner, Result

from millrace_cli.root import EntryPointGroup


def run_command(name: str, *arguments: object) -> Result:
    """Run a command of millrace-cli; its errors are written as users see them."""
    entry = EntryPoint(name, f"millrace_cli.commands.{name}:{name}", "millrace.commands")
    root = EntryPointGroup(find_commands=lambda: [entry])
    return CliRunner().invoke(root, [name, *map(str, arguments)])
