"""``millrace peek``: show the newest messages of a topic as rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from millrace.errors import MessageError
from millrace_cli.connection import (
    DEFAULT_CATALOG,
    catalog_options,
    java_properties,
    open_catalog,
    require_brokers,
)

if TYPE_CHECKING:
    from millrace.contracts import Catalog, CatalogTable

_GUESSED_FROM = 20
_JSON = "json"
_METADATA = "__raw_key__ AS message_key, headers, partition, offset, timestamp"


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
@click.option("--format", "format_", metavar="NAME", help="Format to read with, in place of the catalog.")
@click.option("--metadata", is_flag=True, help="Show key, headers, partition, offset and timestamp, too.")
def peek(
    topic: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    catalog: str,
    options: Mapping[str, str],
    count: int,
    format_: str | None,
    metadata: bool,
) -> None:
    """Show the newest messages of a topic as rows.

    Messages are decoded as in a read, and shown oldest first. Those without a value give no rows. Without --format and
    --catalog the format is guessed; what no format can be told of is shown as bytes.
    Malformed messages are reported on standard error and counted, and the exit code is 1.
    """
    from millrace_cli.newest_rows import newest_rows
    from millrace_cli.tables import printable, rows_table

    if format_ is None and (metadata or catalog == DEFAULT_CATALOG):
        format_ = _guess(topic, java_properties(bootstrap_servers, config, properties), metadata=metadata)
    newest = None
    if format_ is None:
        table = _table(open_catalog(catalog, bootstrap_servers, config, properties, options), topic)
        newest = None if table is None else newest_rows(table.options, table.schema, count)
    if newest is None:
        java = java_properties(bootstrap_servers, config, properties)
        given = _read_options(topic, java, options, format_ or _JSON, metadata=metadata)
        newest = newest_rows(given, None, count)
    for line in rows_table(newest.rows, coloured=sys.stdout.isatty()):
        click.echo(line)
    for record in newest.malformed:
        click.echo(printable(f"millrace: {record}"), err=True)
    if newest.malformed:
        click.echo(f"millrace: {len(newest.malformed)} of {newest.messages} messages are malformed", err=True)
    sys.exit(1 if newest.malformed else 0)


def _table(catalog: Catalog, topic: str) -> CatalogTable | None:
    """Return the table of a topic; None where a malformed message keeps its columns from being inferred."""
    try:
        return catalog.table(topic)
    except MessageError:
        return None


def _guess(topic: str, java: Mapping[str, str], *, metadata: bool) -> str | None:
    """Return the format to read with; None for JSON, whose columns the catalog finds."""
    from millrace_cli.format_guess import guess_format
    from millrace_cli.newest_rows import newest_values

    given = _read_options(topic, require_brokers(dict(java)), {}, "raw", metadata=False)
    guess = guess_format(newest_values(given, _GUESSED_FROM))
    if guess.format == _JSON and not metadata:
        return None
    click.echo(f"millrace: reading with format {guess.format}: {guess.reason}", err=True)
    return guess.format


def _read_options(
    topic: str, java: Mapping[str, str], options: Mapping[str, str], format_: str, *, metadata: bool
) -> dict[str, str]:
    shown = {"metadata.columns": _METADATA} if metadata else {}
    client = {f"properties.{name}": value for name, value in java.items()}
    # Malformed messages are shown, and columns are inferred from the others
    tolerant = {"ingestion.ignore-errors": "true"}
    return {**client, "topic": topic, "format": format_, **tolerant, **shown, **options}
