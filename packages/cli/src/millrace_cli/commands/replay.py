"""``millrace replay``: write the messages of a recording to a topic, exactly once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from millrace.wording import counted
from millrace_cli.connection import client_properties, connection_options, registry_options


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@connection_options
@click.option("--topic", metavar="TOPIC", help="Write to this topic. [default: the recorded one]")
@click.option(
    "--speed",
    type=click.FloatRange(0, min_open=True),
    help="How many times as fast as recorded: 1 for the same gaps between messages. [default: as fast as possible]",
)
@click.option("--keep-partitions", is_flag=True, help="Write each message to its recorded partition, not by its key.")
@click.option("--shift-time", is_flag=True, help="Move all timestamps by the same time, to the present.")
@registry_options("Schema registry that gets the schemas, whose ids messages then have.")
@click.option("--again", is_flag=True, help="Begin anew, even if the recording was replayed into the topic before.")
@click.option(
    "--group",
    metavar="GROUP",
    help="Consumer group that remembers what was replayed. [default: millrace-replay-TOPIC- and a hash of the file]",
)
@click.option(
    "--transaction-size", type=click.IntRange(1), default=1000, show_default=True, help="Messages per transaction."
)
def replay(
    file: Path,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    topic: str | None,
    speed: float | None,
    keep_partitions: bool,
    shift_time: bool,
    registry: str | None,
    registry_options: Mapping[str, str],
    again: bool,
    group: str | None,
    transaction_size: int,
) -> None:
    """Write the messages of FILE, a recording of millrace record, to a topic, each exactly once.

    Messages keep their key, value, headers and timestamp, and are written in the order of their timestamps; those of a
    partition stay in order. An interrupted replay continues where it ended when the command is repeated. One that is
    complete is repeated only with --again.

    Requires the permissions WRITE on the topic, READ on the group, and WRITE on the transactional id, which has the
    name of the group.
    """
    from millrace_cli.errors import CommandError
    from millrace_cli.peeking.topic_read import print_note
    from millrace_cli.recordings.files import open_recording
    from millrace_cli.recordings.replay import RecordingReplay, default_group, replay_recording

    recording = open_recording(file)
    target = topic or recording.topic.name
    if target is None:
        raise CommandError(f"{file} does not name a topic: give one by --topic")
    planned = RecordingReplay(
        topic=target,
        group=group or default_group(recording, target),
        speed=speed,
        keep_partitions=keep_partitions,
        shift_time=shift_time,
        again=again,
        registry=registry,
        registry_options=registry_options,
        transaction_size=transaction_size,
    )
    if recording.schemas and registry is None:
        print_note("messages keep the ids that a schema registry gave them when they were recorded: see --registry")
    client = client_properties(bootstrap_servers, config, properties)
    written = replay_recording(client, recording, planned, print_note)
    text = f"replayed {written.now:,} of {counted(written.total, 'message')} to {target}"
    if written.before:
        hint = "" if written.now else "; --again repeats it"
        text += f"; {written.before:,} were replayed before by group {planned.group}{hint}"
    click.echo(text)
