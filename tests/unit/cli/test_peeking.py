"""``millrace peek``, with messages that no broker has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Message

from millrace.contracts import DeadLetter, dead_letter_headers
from millrace_cli.commands.peek import peek
from millrace_cli.peeking import topic_read
from millrace_cli.peeking.topic_messages import TopicMessages


def message(offset: int, value: bytes, headers: Any = ()) -> Message:
    return Message(
        topic="orders", partition=0, offset=offset, value=value, headers=list(headers), timestamp=(1, 1_000 + offset)
    )


class FakeMessages(TopicMessages):
    """Messages that are there, and then messages that come; after these somebody presses Ctrl-C."""

    def __init__(self, there: list[Message], *come: list[Message]) -> None:
        self._there = there
        self._come = come

    def newest(self, count: int) -> list[Message]:
        return self._there[-count:]

    def follow(self) -> Iterator[list[Message]]:
        yield from self._come
        raise KeyboardInterrupt


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Peek at some messages, as JSON or csv."""

    def run(there: list[Message], *come: list[Message], arguments: str) -> Any:
        monkeypatch.setattr(topic_read.TopicRead, "messages", lambda _: FakeMessages(there, *come))
        given = ["orders", "--bootstrap-servers", "127.0.0.1:1", *arguments.split("|")]
        return CliRunner().invoke(peek, given)

    return run


JSON = "--format|json|--schema|id BIGINT"


def test_rows_are_shown_as_they_come_until_ctrl_c(run: Any) -> None:
    ended = run(
        [message(0, b'{"id": 1}')],
        [],
        [message(1, b'{"id": 22222}'), message(2, b"{")],
        [message(3, b'{"id": 3}')],
        arguments=f"{JSON}|-f|--metadata",
    )
    lines = ended.stdout.splitlines()
    # One heading; columns get wider, never narrower
    assert [line.split()[0] for line in lines] == ["id", "1", "22222", "3"]
    assert lines[3].startswith("3      NULL")
    assert "malformed message in topic 'orders', partition 0, offset 2: " in ended.stderr
    assert ended.exit_code == 130


def test_following_ends_at_its_limit_or_its_time(run: Any) -> None:
    come = [[message(number, b'{"id": %d}' % number)] for number in range(9)]
    some = run([message(0, b'{"id": 0}')], *come, arguments=f"{JSON}|-f|--limit|2|--where|id > 3|--json")
    assert list(map(json.loads, some.stdout.splitlines())) == [{"id": 4}, {"id": 5}]
    assert some.exit_code == 0

    # An empty topic is waited for as long
    timed = run([], *come, arguments=f"{JSON}|-f|--timeout|0.01")
    assert (timed.exit_code, timed.stdout) == (0, "")
    assert run([], arguments="--limit|2").exit_code == 2


def test_the_newest_rows_that_fulfil_a_condition_are_searched(run: Any) -> None:
    there = [message(number, b'{"id": %d}' % number) for number in range(100)]
    found = run(there, arguments=f"{JSON}|-n|2|--json|--where|id < 50")
    assert [json.loads(line)["id"] for line in found.stdout.splitlines()] == [48, 49]
    wrong = run(there, arguments=f"{JSON}|--where|idd < 50")
    assert wrong.stderr.startswith("millrace: --where, character 1: there is no column idd; did you mean id?")
    assert wrong.exit_code == 1


def test_dead_letters_are_told_by_their_headers(run: Any) -> None:
    letter = DeadLetter("orders", 3, 7, 1_000, None, b"{", [("trace", b"t-1")], "value", "json", "not JSON")
    there = [message(0, b"{", dead_letter_headers(letter)), message(1, b"stray")]
    shown = run(there, arguments="--json|--where|reason LIKE '%JSON' OR topic IS NULL")
    first, second = map(json.loads, shown.stdout.splitlines())
    assert (first["topic"], first["partition"], first["offset"], first["reason"]) == ("orders", 3, 7, "not JSON")
    assert (first["value"], first["headers"]) == ("{", [{"key": "trace", "value": "t-1"}])
    assert (second["topic"], second["value"], second["dead_offset"]) == (None, "stray", 1)
    assert "these are dead letters" in shown.stderr
    assert run(there, arguments="--format|raw|--json").stdout.splitlines()[1] == '{"value": "stray"}'


def test_csv_is_read_with_columns_of_its_own_or_given_ones(run: Any) -> None:
    there = [message(0, b"1;de"), message(1, b"2;fr")]
    assert run(there, arguments="-n|1").stdout.split() == ["column_1", "column_2", "2", "fr"]
    named = run(there, arguments="--schema|id BIGINT, country STRING|--where|id = 1")
    assert named.stdout.split() == ["id", "country", "1", "de"]
    wrong = run(there, arguments="--schema|id BIGIMT")
    assert "--schema: expected a type at character 4, found 'BIGIMT'; did you mean BIGINT?" in str(wrong.exception)
