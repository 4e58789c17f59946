"""``millrace why``: find out why nothing comes from a query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from millrace_cli.connection import connection_options, java_properties, job_options, require_brokers
from millrace_cli.parameters import NameValue


@click.command()
@connection_options
@click.option("--topic", help="Topic that the query reads, as of the option topic.")
@click.option("--option", "options", type=NameValue(), multiple=True, help="Option of the read; repeatable.")
@click.option("--checkpoint", metavar="LOCATION", help="Folder or URI of the query's checkpoint.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def why(
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    topic: str | None,
    options: tuple[tuple[str, str], ...],
    checkpoint: str | None,
    as_json: bool,
) -> None:
    """Find out why a query returns no rows, or no new rows.

    It examines the query from outside: its progress in the checkpoint, the topics, and the consumer group. Without
    --checkpoint, it shows what a new query would find. To include limits and filters of a running query, call
    millrace.why(query) in its process. Nothing is written or committed, and no group is joined.

    \b
    --json prints one object:
      causes  list of {kind, message, remedy, evidence}, the most important first
    """  # noqa: D301 - \b is click's mark for a paragraph that keeps its lines
    if topic is None and not options:
        raise click.UsageError("give the read by --topic and --option")

    import millrace

    java = require_brokers(java_properties(bootstrap_servers, config, properties))
    read_options = job_options(java, topic, options)
    causes = millrace.why(options=read_options, checkpoint=checkpoint)
    click.echo(json.dumps(causes.to_json(), indent=2) if as_json else str(causes))
