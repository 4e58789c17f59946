"""A replay of dead letters that is killed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from millrace.contracts import DeadLetter, dead_letter_headers
from millrace_cli.commands.dlq import dlq
from support.families import Family
from support.kafka import consume, produce
from support.waiting import wait_until

LETTERS = 3_000
COMMAND = "from millrace_cli.commands.dlq import dlq; dlq()"


def test_each_message_is_replayed_once_when_replays_are_killed(broker: Any, make_topic: Any, tmp_path: Path) -> None:
    target, dead = make_topic(2), make_topic(1)
    produce(broker.bootstrap_servers, dead, (_letter(number, target) for number in range(LETTERS)))
    given = ["replay", dead, "--bootstrap-servers", broker.bootstrap_servers]

    def read() -> list[tuple[int, bytes, Any]]:
        return [(each.partition(), each.value(), each.headers()) for each in consume(broker.bootstrap_servers, target)]

    # Small transactions, so that it is killed between the first and the last one
    killed = [sys.executable, "-c", COMMAND, *given, "--transaction-size", "5", "--where", "dead_offset > 100"]
    with Family(killed, tmp_path / "console") as replay:
        wait_until(read, "the first transaction")
        replay.kill()
    assert 0 < len(read()) < LETTERS - 101

    done = CliRunner().invoke(dlq, given)
    assert done.exit_code == 0, done.output
    assert f"of {LETTERS} dead letters: " in done.stdout
    assert " were replayed before by group " in done.stdout
    expected = [(number % 2, str(number).encode(), [("number", str(number).encode())]) for number in range(LETTERS)]
    assert sorted(read(), key=lambda each: int(each[1])) == expected

    # Nothing is left; and what has no origin is refused before anything is written
    assert "replayed 0 of" in CliRunner().invoke(dlq, given).stdout
    produce(broker.bootstrap_servers, dead, [_letter(LETTERS, target), {"value": b"stray"}])
    refused = CliRunner().invoke(dlq, given)
    assert "offset 3001 of topic" in str(refused.exception)
    assert "lacks the headers that name its origin" in str(refused.exception)
    assert len(read()) == LETTERS
    elsewhere = CliRunner().invoke(dlq, [*given, "--to", target, "--where", "topic IS NULL", "--dry-run"])
    assert elsewhere.stdout.startswith(f"would replay 1 of {LETTERS + 2} dead letters: 1 to {target}; ")
    shown = CliRunner().invoke(dlq, ["show", *given[1:], "--by", "error"])
    assert [line.split()[0] for line in shown.stdout.splitlines()] == ["count", str(LETTERS + 1), "1"]


def _letter(number: int, topic: str) -> dict[str, Any]:
    own = [("number", str(number).encode())]
    letter = DeadLetter(
        topic, number % 2, number, None, b"k", str(number).encode(), own, "value", "json", f"no {number}"
    )
    return {"key": letter.key, "value": letter.value, "headers": dead_letter_headers(letter), "partition": 0}
