"""``millrace checkpoint``: look at the checkpoint of a streaming query, and make changed copies of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from millrace_cli.connection import client_properties, connection_options

if TYPE_CHECKING:
    from millrace.checkpoint import Offsets
    from millrace.contracts import TopicPartition
    from millrace_cli.checkpoints.copying import CopyPlan
    from millrace_cli.checkpoints.reading import Checkpoint


@click.group()
def checkpoint() -> None:
    """Look at the checkpoint of a streaming query, and make changed copies of it.

    Folders are paths or URIs, as Spark takes them: local disks, hdfs://, s3://, gs:// and abfs://. A checkpoint is
    never changed in place. On local disks and in HDFS a copy gets its name when it is complete. In object stores, which
    cannot rename a folder, Spark refuses to start with a copy before it is complete.
    """


def _copy_arguments(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the checkpoint, the folder of its copy, and what becomes of a micro-batch that is not complete."""
    parameters = (
        click.argument("checkpoint", metavar="CHECKPOINT"),
        click.argument("copy", metavar="COPY"),
        click.option(
            "--repeat-uncommitted",
            is_flag=True,
            help="Copy although the last micro-batch is not complete. Its records are read again, and rows that are "
            "written already may be written twice.",
        ),
    )
    for parameter in reversed(parameters):
        command = parameter(command)
    return command


@checkpoint.command()
@click.argument("checkpoint", metavar="CHECKPOINT")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def show(checkpoint: str, as_json: bool) -> None:
    """Show sources, offsets, micro-batches and state, and where a restart begins.

    It also reads checkpoints of Spark's own Kafka connector.
    """
    from millrace_cli.checkpoints.reading import read_checkpoint
    from millrace_cli.checkpoints.report import to_json, to_lines

    contents = read_checkpoint(checkpoint)
    if as_json:
        click.echo(json.dumps(to_json(contents), indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(to_lines(contents)).rstrip())


@checkpoint.command("import")
@_copy_arguments
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="NAME",
    help="Name or number of a source to translate, as `show` prints it; repeatable. [default: all of Spark's own Kafka "
    "connector]",
)
def import_(checkpoint: str, copy: str, repeat_uncommitted: bool, sources: tuple[str, ...]) -> None:
    """Make the checkpoint of a query that reads with Spark's own Kafka connector one of millrace.

    The query goes on with format("millrace") where it was with format("kafka"). Offsets are translated; state,
    watermarks and commits stay. Its operators, the types of their columns, and the order of its sources must stay the
    same. Sources of other kinds stay as they are.
    """
    from millrace_cli.checkpoints.kafka_import import plan_import

    original = _read(checkpoint, repeat_uncommitted, "the copy processes them again")
    _copy(original, plan_import(original, sources), copy)


@checkpoint.command()
@_copy_arguments
@click.option(
    "--to",
    "target",
    required=True,
    metavar="OFFSETS|TIME",
    help='Offsets by topic and partition, as {"orders": {"0": 42}} or topic:orders,partition:0,offset:42;...; other '
    "partitions stay where they are. Or a time, such as 2026-11-23 06:00 UTC or milliseconds since 1970: the first "
    "record at or after it in each partition, for which brokers are asked.",
)
@connection_options
def rewind(
    checkpoint: str,
    copy: str,
    repeat_uncommitted: bool,
    target: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
) -> None:
    """Go back to earlier offsets, so that records are read again.

    State and watermark of a query with state go back, too: to the end of the last micro-batch at or before the offsets
    whose state Spark still has. The copy is another query for sinks, which write the rows again. Stop the query of the
    original for good.
    """
    from millrace_cli.checkpoints.rewinding import plan_rewind

    original = _read(checkpoint, repeat_uncommitted, "they are read again from where the micro-batch began, or earlier")
    connect = partial(client_properties, bootstrap_servers, config, properties)
    _copy(original, plan_rewind(original, lambda read: _targets(target, read, connect)), copy)


@checkpoint.command()
@_copy_arguments
def fork(checkpoint: str, copy: str, repeat_uncommitted: bool) -> None:
    """Copy a checkpoint for another query, which goes on from the same place beside the first one.

    The copy is another query for Spark and for sinks. Give it a place of its own for its rows, and a transactional id
    prefix of its own if it writes exactly once.
    """
    from millrace_cli.checkpoints.changing import plan_fork

    original = _read(checkpoint, repeat_uncommitted, "the query of the copy processes them, too")
    _copy(original, plan_fork(original), copy)


@checkpoint.command("rename-topic")
@_copy_arguments
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
def rename_topic(checkpoint: str, copy: str, repeat_uncommitted: bool, old: str, new: str) -> None:
    """Go on in a topic of another name, which has the same records at the same offsets.

    Such a topic is a copy that keeps offsets, for instance by a cluster link. Records of topics that were copied
    otherwise have other offsets.
    """
    from millrace_cli.checkpoints.changing import plan_topic_renaming

    original = _read(checkpoint, repeat_uncommitted, f"the copy reads them again, from topic {new!r}")
    _copy(original, plan_topic_renaming(original, old, new), copy)


def _read(location: str, may_repeat: bool, effect: str) -> Checkpoint:
    from millrace_cli.checkpoints.copying import require_complete
    from millrace_cli.checkpoints.reading import read_checkpoint

    contents = read_checkpoint(location)
    require_complete(contents, may_repeat=may_repeat, effect=effect)
    return contents


def _copy(checkpoint: Checkpoint, plan: CopyPlan, location: str) -> None:
    from millrace.wording import counted
    from millrace_cli.checkpoints.copying import copy_checkpoint
    from millrace_cli.checkpoints.store import CheckpointStore

    target = CheckpointStore(location)
    copy_checkpoint(checkpoint, plan, target)
    click.echo(f"copied {counted(len(plan.copied) + len(plan.written), 'file')} to {location}")
    for note in plan.notes:
        click.echo(note)
    for folder in target.drafts():
        click.echo(f"delete {folder}: it is left of a copy that was killed, unless another one is under way")


def _targets(target: str, read: Offsets, connect: Callable[[], Any]) -> Mapping[TopicPartition, int]:
    """Return where partitions are to go on, by what the user has given with --to."""
    from millrace.kafka.admin import KafkaAdmin
    from millrace_cli.checkpoints.rewinding import parse_targets
    from millrace_cli.times import parse_time

    try:
        if "offset:" in target or target.lstrip().startswith("{"):
            return parse_targets(target, {at.topic for at in read})
        millis = parse_time(target)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--to'") from None
    offsets = KafkaAdmin(connect()).at_timestamp(list(read), millis)
    # Records of a partition that are all older are read already, or come anyway
    return {at: min(offsets[at], offset) for at, offset in read.items()}
