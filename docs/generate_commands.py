"""Write docs/commands.md: the commands of ``millrace`` and their options, from click's own declarations."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from millrace_cli.root import root

PAGE = Path(__file__).with_name("commands.md")

HEAD = """# Commands

Generated from the commands themselves by `tox -e docs`. `millrace COMMAND --help` prints the same.

Exit codes: 0 for success, 1 for a failure, 2 for an invalid command line. Commands with other exit codes say so below.
"""


def render() -> str:
    """Return the page's text."""
    return "\n".join([HEAD, *_sections_of(root, "")])


def _sections_of(group: click.Group, prefix: str) -> Iterator[str]:
    context = click.Context(group, info_name=f"millrace {prefix}".strip())
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None:
            yield from _sections(command, f"{prefix}{name}")


def _sections(command: click.Command, name: str) -> Iterator[str]:
    if isinstance(command, click.Group):
        yield from _sections_of(command, f"{name} ")
        return
    context = click.Context(command, info_name=f"millrace {name}")
    usage = " ".join([f"millrace {name}", *command.collect_usage_pieces(context)])
    lines = [f"## `millrace {name}`", "", "```", usage, "```", "", *_text(command)]
    options = [record for each in command.get_params(context) if (record := each.get_help_record(context))]
    if options:
        lines += ["| option | meaning |", "|---|---|", *(_row(*option) for option in options), ""]
    yield "\n".join(lines)


def _text(command: click.Command) -> Iterator[str]:
    """Return the lines of a command's description; what keeps its lines is a block."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        kept = paragraph.removeprefix("\b\n")
        if kept == paragraph:
            yield from [_escaped(" ".join(paragraph.split())), ""]
        else:
            yield from ["```", kept, "```", ""]


def _row(names: str, meaning: str) -> str:
    return f"| `{_escaped(names)}` | {_escaped(meaning)} |"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
