"""A click group whose commands are imported when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

import click

from millrace_cli.errors import plain_errors


class LazyGroup(click.Group):
    """A group that knows where its commands are and imports none of them before it is used.

    Errors that millrace raises on purpose end the command with their message alone.

    Args:
        name: The group's name.
        commands_at: Where each command is, as ``module:attribute``.
        **settings: What click knows about a group beside that.
    """

    def __init__(self, name: str | None = None, *, commands_at: Mapping[str, str], **settings: object) -> None:
        super().__init__(name, **settings)  # type: ignore[arg-type]
        self._commands_at = dict(commands_at)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order given."""
        return list(self._commands_at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        target = self._commands_at.get(cmd_name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that the arguments name."""
        with plain_errors():
            return super().invoke(ctx)
