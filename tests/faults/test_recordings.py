"""A replay of a recording that is killed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from millrace_cli.commands.record import record
from millrace_cli.commands.replay import replay
from support.families import Family
from support.kafka import consume, produce, wait_for_markers
from support.waiting import wait_until

MESSAGES = 3_000
PARTITIONS = 3
COMMAND = "from millrace_cli.commands.replay import replay; replay()"


def test_each_message_is_written_once_when_replays_are_killed(broker: Any, make_topic: Any, tmp_path: Path) -> None:
    source, target = make_topic(PARTITIONS), make_topic(PARTITIONS)
    produce(
        broker.bootstrap_servers,
        source,
        (
            {"value": b"%d" % number, "headers": [("n", b"%d" % number)], "partition": number % PARTITIONS}
            for number in range(MESSAGES)
        ),
    )
    connection = ["--bootstrap-servers", broker.bootstrap_servers]
    file = str(tmp_path / "sample.parquet")
    recorded = CliRunner().invoke(record, [source, file, *connection])
    assert recorded.exit_code == 0, recorded.output
    arguments = [file, "--topic", target, "--keep-partitions", *connection]

    def read(topic: str) -> list[Any]:
        return [
            (message.partition(), message.value(), message.headers(), message.timestamp())
            for message in consume(broker.bootstrap_servers, topic)
        ]

    # Small transactions, so that each is killed between its first and its last one
    for number in range(2):
        before = len(read(target))
        command = [sys.executable, "-c", COMMAND, *arguments, "--transaction-size", "5"]
        with Family(command, tmp_path / f"console-{number}") as killed:
            wait_until(lambda before=before: len(read(target)) > before, "the first transaction of a replay")
            killed.kill()
    written = len(read(target))
    assert 0 < written < MESSAGES

    done = CliRunner().invoke(replay, arguments)
    assert done.exit_code == 0, done.output
    assert f"of {MESSAGES:,} messages to {target}; " in done.output
    assert " were replayed before by group millrace-replay-" in done.output
    wait_for_markers(broker.bootstrap_servers, target)
    assert read(target) == read(source)
    assert f"replayed 0 of {MESSAGES:,} messages" in CliRunner().invoke(replay, arguments).output
