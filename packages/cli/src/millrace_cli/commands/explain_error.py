"""``millrace explain-error``: say what went wrong in a log."""

from __future__ import annotations

import sys
from typing import TextIO

import click


@click.command("explain-error")
@click.argument("log", type=click.File(errors="replace"), default="-")
def explain_error(log: TextIO) -> None:
    """Find the error in LOG, a file or pasted text, and say how to fix it.

    The exit code is 0 if an error was found, 1 otherwise.
    """
    from millrace.failures import explain_log

    if log.isatty():
        click.echo("Paste the log, then press Ctrl-D:", err=True)
    explanation = explain_log(log.read())
    if explanation is None:
        click.echo("no failure was found", err=True)
        sys.exit(1)
    click.echo(explanation.message)
