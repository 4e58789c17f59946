"""Errors on the command line: one message on standard error, without a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from millrace.errors import MillraceError


class CommandError(click.ClickException):
    """An error that ends the command with exit code 1 and one message on standard error."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the message."""
        click.echo(f"millrace: {self.message}", file=file, err=file is None)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn a MillraceError into a CommandError; other errors keep their tracebacks.

    Raises:
        CommandError: The block raised a MillraceError.
    """
    try:
        yield
    except MillraceError as error:
        raise CommandError(str(error)) from error
