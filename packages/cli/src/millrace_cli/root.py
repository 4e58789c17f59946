"""The command ``millrace`` and its subcommands, which installed packages offer by entry points.

A package adds a command by an entry point of the group ``millrace.commands``: its name is the command's name, its value
the ``module:attribute`` of a click command. No command is imported before it is used. A command that cannot be used is
shown as such, with the reason, and does not affect the others.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint

import click

import millrace
from millrace_cli.errors import CommandError, plain_errors

COMMANDS_GROUP = "millrace.commands"


def installed_commands() -> Iterable[EntryPoint]:
    """Return the entry points of all commands that installed packages offer."""
    return importlib.metadata.entry_points(group=COMMANDS_GROUP)


class EntryPointGroup(click.Group):
    """A click group whose commands are entry points, each imported on first use.

    Errors that millrace raises on purpose end a command with their message alone.

    Args:
        name: The group's name.
        find_commands: Returns the entry points of the commands.
        **settings: Further arguments of `click.Group`.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        find_commands: Callable[[], Iterable[EntryPoint]] = installed_commands,
        **settings: object,
    ) -> None:
        super().__init__(name, **settings)  # type: ignore[arg-type] # click types its arguments one by one
        self._find_commands = find_commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in alphabetical order."""
        return sorted({entry_point.name for entry_point in self._find_commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; returns None for an unknown one, and an `UnusableCommand` for one that cannot be used."""
        candidates = [entry_point for entry_point in self._find_commands() if entry_point.name == cmd_name]
        if not candidates:
            return None
        if len(candidates) > 1:
            origins = " and ".join(sorted(map(_origin, candidates)))
            return UnusableCommand(
                cmd_name, f"command {cmd_name!r} is offered by {origins}; uninstall all but one of these packages"
            )
        return _load(candidates[0])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that the arguments name."""
        with plain_errors():
            return super().invoke(ctx)


class UnusableCommand(click.Command):
    """A stand-in for a command that cannot be used, which reports the reason in place of running.

    Args:
        name: The command's name.
        problem: The reason, and what to do.
    """

    def __init__(self, name: str, problem: str) -> None:
        # Accepts any arguments: what the command would accept is unknown
        settings = {"ignore_unknown_options": True, "allow_extra_args": True}
        super().__init__(name, add_help_option=False, context_settings=settings)
        self.problem = problem

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the problem, not cut off: it says what to do."""
        return self.problem

    def invoke(self, ctx: click.Context) -> None:
        """Report the problem.

        Raises:
            CommandError: Always.
        """
        raise CommandError(self.problem)


def _load(entry_point: EntryPoint) -> click.Command:
    try:
        command = entry_point.load()
    except (Exception, SystemExit) as error:
        return _unusable(entry_point, f"{type(error).__name__}: {error}")
    if not isinstance(command, click.Command):
        return _unusable(entry_point, f"it is of type {type(command).__name__}, not a click command")
    return command


def _unusable(entry_point: EntryPoint, reason: str) -> UnusableCommand:
    return UnusableCommand(
        entry_point.name,
        f"command {entry_point.name!r} of {_origin(entry_point)} cannot be loaded from {entry_point.value!r}: {reason}",
    )


def _origin(entry_point: EntryPoint) -> str:
    distribution = entry_point.dist
    return f"{distribution.name} {distribution.version}" if distribution else "an unnamed package"


def _show_version(ctx: click.Context, _: click.Parameter, requested: bool) -> None:
    if requested and not ctx.resilient_parsing:
        click.echo(f"millrace {millrace.__version__}")
        ctx.exit()


@click.group(cls=EntryPointGroup)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def root() -> None:
    """A plugin-based Kafka connector for PySpark."""
