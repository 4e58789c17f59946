"""``millrace peek``: show the newest messages of a topic as rows, and follow it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

import click

from millrace_cli.connection import (
    DEFAULT_CATALOG,
    catalog_options,
    decoding_options,
    java_properties,
    open_catalog,
    require_brokers,
)

INTERRUPTED = 130
"""Exit code after Ctrl-C: what a shell tells of ``tail -f``."""


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
@decoding_options
@click.option("-f", "--follow", is_flag=True, help="Keep showing new messages until Ctrl-C.")
@click.option("--limit", type=click.IntRange(1), help="With --follow: end after this many new messages.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="With --follow: end after this many seconds.")
@click.option("--json", "as_json", is_flag=True, help="Print each row as a JSON object on its own line.")
def peek(
    topic: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    catalog: str,
    options: Mapping[str, str],
    count: int,
    format_: str | None,
    columns: str | None,
    registry: str | None,
    registry_options: Mapping[str, str],
    metadata: bool,
    where: str | None,
    follow: bool,
    limit: int | None,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Show the newest messages of a topic as rows.

    Messages are decoded as in a query and shown oldest first. Messages without a value are left out. Without --format
    and --catalog, the format is guessed; messages of unknown formats are shown as bytes. Dead letters are shown with
    the position of their message and the reason. Malformed messages are reported on standard error and counted, and the
    exit code is then 1. After Ctrl-C it is 130.

    With --where, the newest 10,000 messages are searched for -n rows. A condition compares columns with values or with
    each other, using = <> < <= > >=, IN, BETWEEN, LIKE, RLIKE, IS NULL, NOT, AND, OR and parentheses. It can contain
    fields (a.b) and headers['name'], but no functions and no arithmetic.
    """
    from millrace_cli.peeking.decoder_choice import DecoderChoice
    from millrace_cli.peeking.peek import Following, peek_topic
    from millrace_cli.peeking.printing import RowPrinter
    from millrace_cli.peeking.topic_read import TopicRead
    from millrace_cli.row_filter import parse_row_filter

    if not follow and (limit or timeout):
        raise click.UsageError("--limit and --timeout are for --follow; -n is the number of messages that are there")
    condition = None if where is None else parse_row_filter(where)
    client = require_brokers(java_properties(bootstrap_servers, config, properties))
    choice = DecoderChoice(
        TopicRead(topic, client, options, format_, columns, registry, metadata, registry_options),
        lambda: open_catalog(catalog, bootstrap_servers, config, properties, options),
        guesses=catalog == DEFAULT_CATALOG,
    )
    printer = RowPrinter(as_json=as_json, follows=follow)
    following = Following(limit, monotonic() + timeout if timeout else float("inf")) if follow else None
    try:
        malformed = peek_topic(choice, condition, printer, count, following)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    sys.exit(1 if malformed else 0)
