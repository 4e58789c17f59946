"""``millrace plan``: show what a job would do."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from millrace_cli.connection import connection_options, java_properties, job_options, require_brokers
from millrace_cli.parameters import NameValue
from millrace_cli.planned_files import PlannedFile, plan_file

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@connection_options
@click.option("--topic", help="Topic, as of the option topic, in place of FILE.")
@click.option(
    "--option", "options", type=NameValue(), multiple=True, help="Option of the read or the write; repeatable."
)
@click.option("--where", help="Filter of a batch with scan.filter-pushdown, as of peek; shows what it leaves to read.")
@click.option("--stream", is_flag=True, help="Plan the next micro-batch of a stream instead of a batch.")
@click.option("--available-now", is_flag=True, help="Plan a stream that ends with the existing messages.")
@click.option("--write", "writes", is_flag=True, help="Plan a write instead of a read.")
@click.option(
    "--count-limit",
    type=click.IntRange(0),
    default=10_000,
    show_default=True,
    help="Maximum number of offsets that are read to count messages and rows.",
)
@click.option("--checkpoint", metavar="LOCATION", help="Folder or URI of the checkpoint from which a stream continues.")
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
    where: str | None,
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

    The job is described by options, such as --topic orders --option format=json, or by FILE, which contains SQL (.sql)
    or a pipeline (.yaml). The same code plans offsets and tasks as in a real query. If there are at most --count-limit
    offsets, messages are read to count rows; otherwise the plan shows an upper bound ("at most"). Nothing is written,
    created or committed, and no group is joined.

    The plan of a pipeline shows the tables that were found, the message from which each column's type was inferred,
    where rows go, which schema changes the sink applies, and what would end a run. The default checkpoint is the folder
    FILE.checkpoint. Spark is started for SQL, and for pipelines with expressions or a checkpoint.

    The exit code is 0 for a plan without problems, 1 if there are problems, if the job is invalid or if Kafka cannot be
    reached, and 2 for an invalid command line.
    """
    if file is not None:
        if topic is not None or options or writes or where is not None:
            raise click.UsageError("give FILE, or a job by --topic and --option, not both")
        is_sound = plan_file(PlannedFile(file, dict(settings), secrets, checkpoint, dict(conf), as_json))
        sys.exit(0 if is_sound else 1)
    if topic is None and not options:
        raise click.UsageError("give a FILE, or a job by --topic and --option")
    import millrace

    java = require_brokers(java_properties(bootstrap_servers, config, properties))
    read_options = job_options(java, topic, options)
    # What the command line does not name is from the file
    own = {"bootstrap.servers"} if bootstrap_servers else set()
    own |= {name.removeprefix("properties.") for name in properties}
    origins = {f"properties.{name}": f"file {config}" for name in java if config is not None and name not in own}
    job_plan = millrace.plan(
        read_options,
        streaming=stream,
        available_now=available_now,
        checkpoint=checkpoint,
        writes=writes,
        count_limit=count_limit,
        origins=origins,
        filters=_filters(where, read_options, is_batch=not (stream or available_now or checkpoint or writes)),
    )
    click.echo(json.dumps(job_plan.to_json(), indent=2) if as_json else str(job_plan))
    sys.exit(1 if job_plan.problems else 0)


def _filters(where: str | None, options: Mapping[str, str], *, is_batch: bool) -> list[Filter]:
    if where is None:
        return []
    if not is_batch:
        raise click.UsageError("--where is for batches: Spark gives no filters to streams and writes")
    from millrace_cli.row_filter import parse_row_filter
    from millrace_cli.row_filter.pushed_filters import pushed_filters

    return pushed_filters(parse_row_filter(where), options)
