"""`millrace peek`: the newest messages of a topic as rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from millrace_cli.catalog_connection import catalog, catalog_options


@click.command()
@catalog_options
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="How many messages, by their timestamps, of all partitions together.",
)
def peek(
    topic: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    options: Mapping[str, str],
    count: int,
) -> None:
    """Show the newest messages of a topic as rows, decoded as a read decodes them, oldest first.

    Messages without a value have no rows. Those that cannot be decoded are told on standard error, and make the exit
    code 1.
    """
    from millrace_cli.newest_rows import newest_rows
    from millrace_cli.printable import printable
    from millrace_cli.rows_table import table_lines

    found = newest_rows(catalog(bootstrap_servers, config, properties, options).table(topic), count)
    for line in table_lines(found.rows, coloured=sys.stdout.isatty()):
        click.echo(line)
    for bad in found.bad:
        click.echo(printable(f"millrace: {bad}"), err=True)
    sys.exit(1 if found.bad else 0)
