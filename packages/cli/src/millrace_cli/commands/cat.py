"""``millrace cat``: read a topic from its beginning to its end, without Spark, and write its rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from millrace.wording import counted
from millrace_cli.connection import (
    connection_options,
    decoding_options,
    java_properties,
    name_values,
    require_brokers,
)


@click.command()
@click.argument("topic")
@connection_options
@name_values("Option of the read, such as ingestion.ignore-errors=true; repeatable.")
@decoding_options
@click.option("--limit", type=click.IntRange(1), help="End after this many rows.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write, which ends with .parquet, .jsonl or .csv; by default JSON lines on standard output.",
)
def cat(
    topic: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    options: Mapping[str, str],
    format_: str | None,
    columns: str | None,
    registry: str | None,
    registry_options: Mapping[str, str],
    metadata: bool,
    where: str | None,
    limit: int | None,
    output: Path | None,
) -> None:
    """Read a topic from its beginning to its end, and write its rows.

    It reads as a batch query does, without Spark, partition by partition, and ends with the messages that are there
    when it starts. --option sets any option of a read. A malformed message ends it, unless --option
    ingestion.ignore-errors=true is given. A file appears under its name when all rows are in it.

    --where takes the conditions of millrace peek.
    """
    from millrace.api.arrow import read_arrow
    from millrace_cli.peeking.topic_read import TopicRead, print_note
    from millrace_cli.row_files import check_form, copy_rows
    from millrace_cli.row_filter import parse_row_filter

    if output is not None:
        check_form(output)
    condition = None if where is None else parse_row_filter(where)
    client = require_brokers(java_properties(bootstrap_servers, config, properties))
    read = TopicRead(topic, client, options, format_, columns, registry, metadata, registry_options)
    written = copy_rows(read_arrow(read.find_options()), output, condition, limit)
    if output is not None:
        print_note(f"{counted(written, 'row')} in {output}")
