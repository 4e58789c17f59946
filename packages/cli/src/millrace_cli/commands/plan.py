"""``millrace plan``: show what a job would do."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from millrace_cli.connection import connection_options, java_properties, job_options, require_brokers
from millrace_cli.parameters import NameValue
from millrace_cli.planned_files import PlannedFile, plan_file


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@connection_options
@click.option("--topic", help="Topic, as of the option topic, in place of FILE.")
@click.option(
    "--option", "options", type=NameValue(), multiple=True, help="Option of the read or the write; repeatable."
)
@click.option("--stream", is_flag=True, help="Plan the next micro-batch of a stream, not a batch.")
@click.option("--available-now", is_flag=True, help="The stream ends with the messages that there are now.")
@click.option("--write", "writes", is_flag=True, help="Plan a write, not a read.")
@click.option(
    "--count-limit",
    type=click.IntRange(0),
    default=10_000,
    show_default=True,
    help="Offsets up to which messages are read to count them and their rows.",
)
@click.option("--checkpoint", metavar="LOCATION", help="Folder or URI of the checkpoint, from which a stream goes on.")
@click.option("--set", "settings", type=NameValue(), multiple=True, help="A value of ${NAME} in FILE; repeatable.")
@click.option(
    "--secrets",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file with a line NAME=VALUE for each ${secret_values.NAME}, which only its owner may read.",
)
@click.option("--conf", type=NameValue(), multiple=True, help="A setting of Spark, such as spark.master; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def plan(
    file: Path | None,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    topic: str | None,
    options: tuple[tuple[str, str], ...],
    settings: tuple[tuple[str, str], ...],
    secrets: Path | None,
    checkpoint: str | None,
    conf: tuple[tuple[str, str], ...],
    *,
    stream: bool,
    available_now: bool,
    writes: bool,
    count_limit: int,
    as_json: bool,
) -> None:
    """Show what a job would do: offsets, rows, tasks, columns, permissions.

    The job is given by options, as --topic orders --option format=json, or is FILE: SQL (.sql) or a pipeline (.yaml).
    Offsets and tasks are found by the code that plans real queries. Up to --count-limit offsets are read, to count
    rows; of more there is a bound, "at most". Nothing is written, created or committed, and no group is joined.

    The plan of a pipeline shows the tables that it found, the message that each column's type was taken from, where
    rows go, the schema changes that the sink applies, and what would end a run. By default its checkpoint is the folder
    FILE.checkpoint. Spark starts for SQL, and for pipelines only where expressions or a checkpoint need it.

    The exit code is 0 for a plan without problems, 1 with problems, or when the job is wrong or Kafka cannot be
    reached, and 2 for a wrong command line.
    """
    if file is not None:
        if topic is not None or options or writes:
            raise click.UsageError("give FILE, or a job by --topic and --option, not both")
        is_sound = plan_file(PlannedFile(file, dict(settings), secrets, checkpoint, dict(conf), as_json))
        sys.exit(0 if is_sound else 1)
    if topic is None and not options:
        raise click.UsageError("give a FILE, or a job by --topic and --option")

    import millrace

    java = require_brokers(java_properties(bootstrap_servers, config, properties))
    given = job_options(java, topic, options)
    # What the command line does not name is from the file
    own = {"bootstrap.servers"} if bootstrap_servers else set()
    own |= {name.removeprefix("properties.") for name in properties}
    origins = {f"properties.{name}": f"file {config}" for name in java if config is not None and name not in own}
    found = millrace.plan(
        given,
        streaming=stream,
        available_now=available_now,
        checkpoint=checkpoint,
        writes=writes,
        count_limit=count_limit,
        origins=origins,
    )
    click.echo(json.dumps(found.to_json(), indent=2) if as_json else str(found))
    sys.exit(1 if found.problems else 0)
