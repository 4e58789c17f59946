"""``millrace dlq``: look at a topic of dead letters, and replay its messages."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from millrace_cli.connection import client_properties, connection_options

if TYPE_CHECKING:
    from millrace_cli.replaying.replay import ReplayCounts
    from millrace_cli.replaying.selection import DeadLetterSelection


@click.group()
def dlq() -> None:
    """Look at a topic of dead letters, and replay its messages."""


def _selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the topic, and the options that select dead letters, to a command."""
    options = (
        click.argument("topic"),
        connection_options,
        click.option("--error", metavar="TEXT", help="Only letters whose reason contains this text, ignoring case."),
        click.option("--since", metavar="TIME", help="Only letters from this time on, such as 2026-11-23 06:00 UTC."),
        click.option("--until", metavar="TIME", help="Only letters before this time."),
        click.option(
            "--offsets",
            multiple=True,
            metavar="PARTITION:FIRST-LAST",
            help="Only letters at these offsets of the topic of dead letters, such as 0:17 or 0:10-; repeatable.",
        ),
        click.option(
            "--where",
            metavar="CONDITION",
            help="Only letters for which this is true, as in millrace peek. Columns: topic, partition, offset, "
            "timestamp, part, format, reason, key, value, headers, dead_partition, dead_offset, dead_timestamp.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@dlq.command()
@_selection_options
@click.option(
    "--by",
    default="error,topic",
    show_default=True,
    metavar="FIELD,..",
    help="Fields to count by: error, topic, partition, part, format, minute, hour, day.",
)
@click.option(
    "-n", "samples", type=click.IntRange(0), default=1, show_default=True, help="Number of samples for each count."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object per count.")
def show(
    topic: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    by: str,
    samples: int,
    as_json: bool,
    **selected: Any,
) -> None:
    """Count the dead letters of a topic by error, with samples.

    Reasons that differ only in numbers and quoted text count as the same error. Times are those of the
    letters. On a terminal, samples stand below their error.
    """
    from millrace.kafka.admin import KafkaAdmin
    from millrace_cli.replaying.letters import dead_letter_topic, read_letters
    from millrace_cli.replaying.summary import FIELDS, Summary
    from millrace_cli.tables import rows_table

    fields = [field.strip() for field in by.split(",") if field.strip()]
    if not fields or not set(fields) <= set(FIELDS):
        raise click.BadParameter(f"expected some of {', '.join(FIELDS)}, got {by!r}", param_hint="'--by'")
    selection = _selection(**selected)
    client = client_properties(bootstrap_servers, config, properties)
    summary = Summary(fields, samples)
    for messages in read_letters(client, dead_letter_topic(KafkaAdmin(client), topic)):
        summary.add(selection.of(messages))
    if as_json:
        for row in summary.rows():
            click.echo(json.dumps(row, default=str, ensure_ascii=False))
    else:
        for line in rows_table(summary.table(), coloured=sys.stdout.isatty(), below=("samples", "error")):
            click.echo(line)


@dlq.command()
@_selection_options
@click.option("--to", "target", metavar="TOPIC", help="Write to this topic. [default: where each message comes from]")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option(
    "--group", metavar="GROUP", help="Consumer group that remembers what was replayed. [default: millrace-dlq-TOPIC]"
)
@click.option(
    "--keep-timestamps", is_flag=True, help="Keep the timestamps of messages instead of using the current time."
)
@click.option(
    "--transaction-size", type=click.IntRange(1), default=1000, show_default=True, help="Messages per transaction."
)
def replay(
    topic: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    target: str | None,
    dry_run: bool,
    group: str | None,
    keep_timestamps: bool,
    transaction_size: int,
    **selected: Any,
) -> None:
    """Write the messages of dead letters back to their original topics, each exactly once.

    Messages keep their key, value, headers and partition; with --to, the key determines the partition. A message is not
    replayed twice with the same group, even after an interrupted replay or with another selection. Requires the
    permissions READ on the topic and the group, and WRITE on the target topics and on the transactional id, which has
    the name of the group.
    """
    from millrace_cli.replaying.replay import Replay, plan_replay, run_replay

    job = Replay(
        topic, _selection(**selected), target, group or f"millrace-dlq-{topic}", keep_timestamps, transaction_size
    )
    if target == topic:
        raise click.BadParameter("it is the topic of dead letters itself", param_hint="'--to'")
    client = client_properties(bootstrap_servers, config, properties)
    counts = (plan_replay if dry_run else run_replay)(client, job)
    click.echo(_described(counts, job.group, dry_run=dry_run))


def _described(counts: ReplayCounts, group: str, *, dry_run: bool) -> str:
    targets = ", ".join(f"{count} to {topic}" for topic, count in sorted(counts.by_target.items()))
    written = f"{'would replay' if dry_run else 'replayed'} {counts.by_target.total()} of {counts.letters} dead letters"
    others = [f"{counts.letters - counts.selected} are not selected"] if counts.letters > counts.selected else []
    others += [f"{counts.replayed_before} were replayed before by group {group}"] if counts.replayed_before else []
    return "; ".join([f"{written}{targets and f': {targets}'}", *others])


def _selection(
    error: str | None, since: str | None, until: str | None, offsets: tuple[str, ...], where: str | None
) -> DeadLetterSelection:
    from millrace_cli.replaying.selection import DeadLetterSelection, parse_offsets
    from millrace_cli.row_filter import parse_row_filter
    from millrace_cli.times import parse_time

    try:
        return DeadLetterSelection(
            error,
            None if since is None else parse_time(since),
            None if until is None else parse_time(until),
            parse_offsets(offsets),
            None if where is None else parse_row_filter(where),
        )
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None
