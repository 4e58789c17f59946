"""`millrace broker`: a real Kafka on this machine, in the background or in the foreground."""

from __future__ import annotations

import contextlib
import datetime
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from millrace_broker.background import BackgroundBroker

NOT_RUNNING = 3
_USUAL_PORT = 9092


@click.group()
def broker() -> None:
    """Run a real Apache Kafka on this machine, for trying things out."""


@broker.command()
@click.option("--port", type=click.IntRange(0, 65535), help="Port; 0 for any free one. [default: 9092 if it is free]")
@click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path), help="Keep data and logs here.")
@click.option("--foreground", is_flag=True, help="Run until Ctrl-C instead of in the background.")
@click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="NAME[:PARTITIONS]",
    callback=lambda _context, _option, given: [_parse_topic(text) for text in given],
    help="Create this topic, unless it is there; can be given more than once.",
)
def start(port: int | None, data_dir: Path | None, foreground: bool, topics: list[tuple[str, int]]) -> None:
    """Start the broker, and print its bootstrap servers.

    Without --data-dir its data are temporary. A broker that runs in the background already is left as it is, but for
    the topics that are asked for. Topics are not created by writing to them.
    """
    chosen = _choose(port)
    if foreground:
        _run_here(chosen, data_dir, topics)
    else:
        _run_in_background(chosen, data_dir, topics)


@broker.command()
def status() -> None:
    """Show the broker in the background; exit code 3 when none runs."""
    from millrace_broker import background

    found = background.find_running()
    if found is None:
        click.echo("not running")
        sys.exit(NOT_RUNNING)
    _show(found)


@broker.command()
def stop() -> None:
    """Stop the broker in the background; temporary data are deleted."""
    from millrace_broker import background

    stopped = background.stop()
    if stopped is None:
        click.echo("not running")
        return
    kept = "" if stopped.temporary else f"; its data are kept in {stopped.data_dir}"
    click.echo(f"stopped the broker at {stopped.bootstrap_servers}{kept}")


def _parse_topic(text: str) -> tuple[str, int]:
    name, colon, partitions = text.partition(":")
    if not name or (colon and not (partitions.isdecimal() and int(partitions))):
        raise click.BadParameter(f"expected NAME or NAME:PARTITIONS, such as orders:4; got {text!r}")
    return name, int(partitions or 1)


def _create_topics(bootstrap_servers: str, topics: list[tuple[str, int]]) -> None:
    from millrace_broker.admin import create_topic, topic_names

    there = topic_names(bootstrap_servers) if topics else frozenset()
    for name, partitions in topics:
        if name not in there:
            create_topic([bootstrap_servers], name, partitions, None, None)


def _run_in_background(port: int, data_dir: Path | None, topics: list[tuple[str, int]]) -> None:
    from millrace_broker import background
    from millrace_broker.progress import StderrProgress
    from millrace_broker.runtime import RuntimeSettings

    started, new = background.start(RuntimeSettings(StderrProgress()), port, data_dir)
    if not new:
        click.echo("already running; stop it first if you want another one: millrace broker stop")
    _create_topics(started.bootstrap_servers, topics)
    _show(started)


def _run_here(port: int, data_dir: Path | None, topics: list[tuple[str, int]]) -> None:
    from millrace.errors import MachineError
    from millrace_broker import KafkaBroker, Listener

    # So that a service manager's stop takes the same way as Ctrl-C
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        contextlib.suppress(KeyboardInterrupt),
        KafkaBroker(listeners=[Listener("PLAINTEXT", port=port)], data_dir=data_dir) as here,
    ):
        _create_topics(here.bootstrap_servers, topics)
        click.echo(f"bootstrap servers: {here.bootstrap_servers}")
        click.echo(f"log file:          {here.log_file}")
        click.echo("Ctrl-C stops it")
        while here.is_running:
            time.sleep(0.5)
        raise MachineError(f"the broker has ended by itself. {here.log_tail()}")
    click.echo("stopped")


def _show(found: BackgroundBroker) -> None:
    uptime = datetime.timedelta(seconds=int(time.time() - found.started))
    kept = "temporary, deleted at stop" if found.temporary else "kept"
    click.echo(f"bootstrap servers: {found.bootstrap_servers}")
    click.echo(f"process:           {found.pid}, Apache Kafka {found.version}, up {uptime}")
    click.echo(f"data:              {found.data_dir} ({kept})")
    click.echo(f"log file:          {found.log_file}")


def _choose(port: int | None) -> int:
    from millrace_broker.listeners import is_free

    if port is not None:
        return port
    return _USUAL_PORT if is_free(_USUAL_PORT) else 0
