"""``millrace broker``: run a real Kafka on this machine, in the background or in the foreground."""

from __future__ import annotations

import contextlib
import datetime
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from millrace.wording import counted

if TYPE_CHECKING:
    from millrace_broker.background import BackgroundBroker

NOT_RUNNING = 3
"""Exit code of ``status`` when no broker runs in the background."""

_DEFAULT_PORT = 9092


@click.group()
def broker() -> None:
    """Run a real Apache Kafka on this machine."""


@broker.command()
@click.option("--port", type=click.IntRange(0, 65535), help="Port; 0 for any free one. [default: 9092 if it is free]")
@click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path), help="Keep data and logs in this folder.")
@click.option("--foreground", is_flag=True, help="Run until Ctrl-C instead of in the background.")
@click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="NAME[:PARTITIONS]",
    callback=lambda _context, _option, values: [_parse_topic(text) for text in values],
    help="Create this topic unless it exists; repeatable.",
)
def start(port: int | None, data_dir: Path | None, foreground: bool, topics: list[tuple[str, int | None]]) -> None:
    """Start the broker, and print its bootstrap servers.

    Without --data-dir, its data are temporary. If a broker is already running in the background, only the topics are
    created. Topics are not created by writing to them.
    """
    chosen_port = _choose_port(port)
    if foreground:
        _run_in_foreground(chosen_port, data_dir, topics)
    else:
        _start_in_background(chosen_port, data_dir, topics)


@broker.command()
def status() -> None:
    """Show the broker in the background. The exit code is 3 if none is running."""
    from millrace_broker import background

    running = background.find_running()
    if running is None:
        click.echo("not running")
        sys.exit(NOT_RUNNING)
    _show(running)


@broker.command()
def stop() -> None:
    """Stop the broker in the background; temporary data are deleted."""
    from millrace_broker import background

    stopped = background.stop()
    if stopped is None:
        click.echo("not running")
        return
    note = "" if stopped.temporary else f"; its data are kept in {stopped.data_dir}"
    click.echo(f"stopped the broker at {stopped.bootstrap_servers}{note}")


def _parse_topic(text: str) -> tuple[str, int | None]:
    name, colon, partitions = text.partition(":")
    if not name or (colon and not (partitions.isdecimal() and int(partitions))):
        raise click.BadParameter(f"expected NAME or NAME:PARTITIONS, such as orders:4; got {text!r}")
    return name, int(partitions) if colon else None


def _choose_port(port: int | None) -> int:
    from millrace_broker.listeners import is_free

    if port is not None:
        return port
    return _DEFAULT_PORT if is_free(_DEFAULT_PORT) else 0


def _create_topics(bootstrap_servers: str, topics: list[tuple[str, int | None]]) -> None:
    from millrace_broker.admin import create_topic, partition_counts

    existing = partition_counts(bootstrap_servers) if topics else {}
    for name, partitions in topics:
        if name not in existing:
            create_topic([bootstrap_servers], name, partitions or 1, None, None)
            click.echo(f"created topic {name!r} with {counted(partitions or 1, 'partition')}")
        elif partitions is not None and existing[name] != partitions:
            click.echo(
                f"millrace: topic {name!r} exists and has {counted(existing[name], 'partition')}, not {partitions}; it "
                f"is left as it is. Delete it, or choose another name",
                err=True,
            )


def _start_in_background(port: int, data_dir: Path | None, topics: list[tuple[str, int | None]]) -> None:
    from millrace_broker import background
    from millrace_broker.progress import StderrProgress
    from millrace_broker.runtime import RuntimeSettings

    running, is_new = background.start(RuntimeSettings(StderrProgress()), port, data_dir)
    if not is_new:
        click.echo("already running")
    _create_topics(running.bootstrap_servers, topics)
    _show(running)


def _run_in_foreground(port: int, data_dir: Path | None, topics: list[tuple[str, int | None]]) -> None:
    from millrace.errors import MachineError
    from millrace_broker import KafkaBroker, Listener

    # A service manager stops it by SIGTERM, which is handled like Ctrl-C
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        contextlib.suppress(KeyboardInterrupt),
        KafkaBroker(listeners=[Listener("PLAINTEXT", port=port)], data_dir=data_dir) as running,
    ):
        _create_topics(running.bootstrap_servers, topics)
        click.echo(f"bootstrap servers: {running.bootstrap_servers}")
        click.echo(f"log file:          {running.log_file}")
        click.echo("Ctrl-C stops it")
        while running.is_running:
            time.sleep(0.5)
        raise MachineError(f"the broker has exited unexpectedly. {running.log_tail()}")
    click.echo("stopped")


def _show(running: BackgroundBroker) -> None:
    uptime = datetime.timedelta(seconds=int(time.time() - running.started))
    data = "temporary, deleted at stop" if running.temporary else "kept"
    click.echo(f"bootstrap servers: {running.bootstrap_servers}")
    click.echo(f"process:           {running.pid}, Apache Kafka {running.version}, up {uptime}")
    click.echo(f"data:              {running.data_dir} ({data})")
    click.echo(f"log file:          {running.log_file}")
