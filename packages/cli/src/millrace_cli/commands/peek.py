"""``millrace peek``: show the newest messages of a topic as rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from millrace_cli.connection import catalog_options, open_catalog


@click.command()
@catalog_options
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="Number of messages, the newest by timestamp of all partitions together.",
)
def peek(
    topic: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    catalog: str,
    options: Mapping[str, str],
    count: int,
) -> None:
    """Show the newest messages of a topic as rows.

    Messages are decoded as in a read, and shown oldest first. Those without a value give no rows.
    Malformed messages are reported on standard error, and the exit code is 1.
    """
    from millrace_cli.newest_rows import newest_rows
    from millrace_cli.tables import printable, rows_table

    table = open_catalog(catalog, bootstrap_servers, config, properties, options).table(topic)
    newest = newest_rows(table, count)
    for line in rows_table(newest.rows, coloured=sys.stdout.isatty()):
        click.echo(line)
    for record in newest.malformed:
        click.echo(printable(f"millrace: {record}"), err=True)
    sys.exit(1 if newest.malformed else 0)
