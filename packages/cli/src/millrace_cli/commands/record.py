"""``millrace record``: keep messages of a topic in a file, from which they are replayed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from millrace.wording import counted
from millrace_cli.connection import (
    client_properties,
    connection_options,
    java_properties,
    name_values,
    registry_options,
    require_brokers,
)

if TYPE_CHECKING:
    from millrace_cli.recordings.record import RecordingCounts

_DECODING_OPTIONS = {"format", "value.format", "key.format", "columns"}


@click.command()
@click.argument("topic")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@connection_options
@name_values("Option of the read, such as scan.header-filter=...; repeatable.")
@click.option("--from", "since", metavar="TIME", help="Only messages from this time on, or of this past, such as 1h.")
@click.option("--until", metavar="TIME", help="Only messages before the first one of this time in their partition.")
@click.option("--limit", type=click.IntRange(1), help="End after this many messages.")
@click.option("--where", metavar="CONDITION", help="Only messages with a row for which this is true.")
@click.option("--format", "format_", metavar="NAME", help="Format of --where's columns; by default it is guessed.")
@click.option("--schema", "columns", metavar="COLUMNS", help="Columns, where the format cannot infer them.")
@registry_options("Schema registry, whose schemas are recorded with the messages.")
@click.option("--mask", metavar="WHAT,..", help="Mask email, card, key, or fields of JSON, such as field:iban.")
@click.option("--keep-binary", is_flag=True, help="With --mask: keep binary keys, values and headers as they are.")
def record(
    topic: str,
    file: Path,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    options: Mapping[str, str],
    since: str | None,
    until: str | None,
    limit: int | None,
    where: str | None,
    format_: str | None,
    columns: str | None,
    registry: str | None,
    registry_options: Mapping[str, str],
    mask: str | None,
    keep_binary: bool,
) -> None:
    """Keep messages of a topic in FILE, with all that they have: .parquet, or .jsonl, which diffs well.

    Messages are recorded as they are, by partition and offset, up to the end that the topic has now. A file appears
    under its name when all messages are in it. millrace replay writes them to a topic.

    --where takes the conditions of millrace peek, on the columns of messages and on key, value, partition, offset,
    timestamp and headers. Messages that have no rows, such as tombstones, are left out then.

    --mask replaces e-mail addresses and numbers of payment cards in text, whole keys, and the values of fields in JSON.
    The same value gets the same mask. Binary messages, such as Avro, cannot be masked and are an error.
    """
    from millrace_cli.peeking.topic_read import TopicRead, print_note
    from millrace_cli.recordings.files import check_recording_name
    from millrace_cli.recordings.masking.message_masks import parse_masks
    from millrace_cli.recordings.record import RecordedRange, record_topic
    from millrace_cli.row_filter import parse_row_filter
    from millrace_cli.times import parse_past_time, parse_time

    if where is None:
        _check_not_decoded(format_, columns, options)
    if mask is None and keep_binary:
        raise click.UsageError("--keep-binary is for --mask; without it, all messages are kept as they are")
    check_recording_name(file)
    try:
        masks = None if mask is None else parse_masks(mask, keeps_binary=keep_binary)
        selected = RecordedRange(
            None if since is None else parse_past_time(since),
            None if until is None else parse_time(until),
            limit,
            None if where is None else parse_row_filter(where),
        )
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None
    java = require_brokers(java_properties(bootstrap_servers, config, properties))
    client = client_properties(bootstrap_servers, config, properties)
    read = TopicRead(topic, java, options, format_, columns, registry, False, registry_options)
    counts = record_topic(file, client, read, selected, masks, print_note)
    print_note(_summary(file, counts))


def _summary(file: Path, counts: RecordingCounts) -> str:
    parts = [
        f"{counted(counts.messages, 'message')} in {file}",
        *([counted(counts.schemas, "schema")] if counts.schemas else []),
        *(f"masked {kind} {counted(number, 'time')}" for kind, number in sorted(counts.masked.items())),
    ]
    return "; ".join(parts)


def _check_not_decoded(format_: str | None, columns: str | None, options: Mapping[str, str]) -> None:
    if format_ or columns or _DECODING_OPTIONS & options.keys():
        raise click.UsageError(
            "--format and --schema are for --where, and so are options of formats; without it, messages are not decoded"
        )
