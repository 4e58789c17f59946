"""``millrace explain-error``: say what went wrong in a log."""

from __future__ import annotations

import sys
from typing import TextIO

import click


@click.command("explain-error")
@click.argument("log", type=click.File(errors="replace"), default="-")
def explain_error(log: TextIO) -> None:
    """Print what went wrong in LOG, a file or what is pasted, and what to do about it.

    Exit code 0 when a failure is found, 1 otherwise.
    """
    from millrace.failures import explain_log

    if log.isatty():
        click.echo("Paste the log, then press Ctrl-D:", err=True)
    explanation = explain_log(log.read())
    if explanation is None:
        click.echo("no failure was found", err=True)
        sys.exit(1)
    click.echo(explanation.message)
