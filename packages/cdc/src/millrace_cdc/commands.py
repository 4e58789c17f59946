"""The commands of pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from millrace.wording import counted
from millrace_cdc.definition_files import read_definition
from millrace_cli.parameters import NameValue, page_options

_set = click.option("--set", "settings", type=NameValue(), multiple=True, help="A value of ${NAME}; repeatable.")
_secrets = click.option(
    "--secrets",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file with a line NAME=VALUE for each ${secret_values.NAME}, which only its owner may read.",
)
_checkpoint = click.option(
    "--checkpoint",
    metavar="LOCATION",
    help="Folder or URI of the pipeline's checkpoint; by default the folder FILE.checkpoint.",
)
_conf = click.option(
    "--conf", type=NameValue(), multiple=True, help="A setting of Spark, such as spark.master; repeatable."
)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@_set
@_secrets
def validate(file: Path, settings: Sequence[tuple[str, str]], secrets: Path | None) -> None:
    """Check the definition of a pipeline.

    It shows all problems of FILE at once, each with line and column. ${NAME} is replaced by the value of --set or by an
    environment variable. It contacts neither Kafka nor Spark, but loads user-defined functions. It warns of filters
    that drop rows which Flink CDC keeps. The exit code is 0 if the definition is valid, 1 if it is invalid or cannot be
    read, and 2 for an invalid command line.
    """
    from millrace_cdc.functions.user_function import UserFunction, by_name
    from millrace_cdc.transforms.differences import dropped_rows

    definition = read_definition(file, settings, secrets)
    for warning in dropped_rows(definition.transforms, by_name(map(UserFunction.of, definition.functions))):
        click.echo(f"warning: {warning}", err=True)
    click.echo(
        f"{file} is valid: {definition.source.type} to {definition.sink.type}, "
        f"{counted(len(definition.routes), 'route')}, {counted(len(definition.transforms), 'transform')}"
    )


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--once", is_flag=True, help="End after the existing messages, for schedulers.")
@_set
@_secrets
@_checkpoint
@_conf
@click.option(
    "--pause-table", metavar="TABLE", multiple=True, help="Pause a table and collect its messages; repeatable."
)
@click.option("--resume-table", metavar="TABLE", multiple=True, help="Resume a paused table; repeatable.")
@page_options(is_on=False, port=4050)
def run(
    file: Path,
    once: bool,
    settings: Sequence[tuple[str, str]],
    secrets: Path | None,
    checkpoint: str | None,
    conf: Sequence[tuple[str, str]],
    pause_table: Sequence[str],
    resume_table: Sequence[str],
    ui_port: int | None,
) -> None:
    """Run the pipeline of a file.

    It runs until Ctrl-C, or with --once until all existing messages have been written. It starts where the last run
    with the same checkpoint ended. The exit code is 0 if it has ended normally, 1 if the definition is invalid or the
    pipeline has failed, 2 for an invalid command line, and 130 after Ctrl-C.
    """
    from millrace_cdc.run_command import run_definition

    definition = read_definition(file, settings, secrets)
    location = checkpoint or f"{file.resolve()}.checkpoint"
    run_definition(
        definition,
        location,
        dict(conf),
        once=once,
        pause_tables=pause_table,
        resume_tables=resume_table,
        ui_port=ui_port,
    )


@click.command("pipeline-schema")
def pipeline_schema() -> None:
    """Print the JSON Schema of pipelines' files, for editors.

    It contains the keys of all installed sources and sinks.
    """
    import json

    from millrace_cdc.json_schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2))
