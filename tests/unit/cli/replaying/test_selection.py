"""Selections and counts of dead letters."""

from __future__ import annotations

import datetime as dt

import pytest
from click.testing import CliRunner
from confluent_kafka import Message

from millrace.contracts import DeadLetter, dead_letter_headers
from millrace_cli.commands.dlq import dlq
from millrace_cli.replaying.selection import DeadLetterSelection, parse_offsets
from millrace_cli.replaying.summary import Summary, error_kind, time_range
from millrace_cli.row_filter import parse_row_filter


def letter(offset: int, reason: str, topic: str = "orders") -> Message:
    about = DeadLetter(topic, 2, 100 + offset, None, None, b"{", (), "value", "json", reason)
    return Message(
        topic="dead",
        partition=0,
        offset=offset,
        value=about.value,
        headers=dead_letter_headers(about),
        timestamp=(1, offset * 60_000),
    )


LETTERS = [
    letter(0, "field id: expected BIGINT, found 'a'"),
    letter(1, "not JSON: the end at character 17"),
    letter(2, "field id: expected BIGINT, found 'b'"),
    letter(3, "field id: expected BIGINT, found 'b'", "audit"),
    Message(topic="dead", partition=0, offset=4, value=b"stray", timestamp=(1, 240_000)),
]


@pytest.mark.parametrize(
    ("selection", "offsets"),
    [
        (DeadLetterSelection(), [0, 1, 2, 3, 4]),
        (DeadLetterSelection(error="NOT json"), [1]),
        (DeadLetterSelection(since=60_000, until=180_000), [1, 2]),
        (DeadLetterSelection(offsets={0: [(1, 1), (3, float("inf"))]}), [1, 3, 4]),
        (DeadLetterSelection(offsets={1: [(0, 9)]}), []),
        (
            DeadLetterSelection(condition=parse_row_filter("topic = 'audit' OR dead_offset = 0 OR topic IS NULL")),
            [0, 3, 4],
        ),
        (DeadLetterSelection(error="bigint", condition=parse_row_filter("offset > 100")), [2, 3]),
    ],
)
def test_letters_are_selected_where_every_part_holds(selection: DeadLetterSelection, offsets: list[int]) -> None:
    assert [message.offset() for message in selection.of(LETTERS)] == offsets


def test_offsets_are_parsed() -> None:
    assert parse_offsets(["0:7", "1:10-20", "1:30-"]) == {0: [(7, 7)], 1: [(10, 20), (30, float("inf"))]}
    for wrong in (["7"], ["0:9-8"], ["0:-8"]):
        with pytest.raises(ValueError, match="expected"):
            parse_offsets(wrong)


def test_letters_are_counted_by_what_they_have_in_common() -> None:
    summary = Summary(["error", "topic"], 1)
    summary.add(LETTERS[:2])
    summary.add(LETTERS[2:])
    rows = summary.rows()
    assert [(row["count"], row["error"], row["topic"]) for row in rows] == [
        (2, "field id: expected BIGINT, found …", "orders"),
        (1, "field id: expected BIGINT, found …", "audit"),
        (1, "no dead letter", None),
        (1, "not JSON: the end at character …", "orders"),
    ]
    minute = dt.timedelta(minutes=1)
    assert rows[0]["last"] - rows[0]["first"] == 2 * minute
    assert rows[0]["samples"] == ["0:0 of orders-2@100: field id: expected BIGINT, found 'a': {"]
    assert summary.table()["count"].to_pylist() == ["2", "1", "1", "1"]

    by_time = Summary(["minute", "partition"], 0)
    by_time.add(LETTERS[:1] * 3)
    assert by_time.table().to_pylist()[0] | {"time (UTC)": None} == {
        "count": "3", "minute": "1970-01-01 00:00", "partition": "2", "time (UTC)": None, "samples": "",
    }  # fmt: skip
    assert error_kind('a "b" 1.5 `c`') == "a … … …"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["show", "dead", "--by", "colour"], "expected some of error, topic"),
        (["show", "dead", "--offsets", "x"], "expected PARTITION:OFFSET"),
        (["replay", "dead", "--to", "dead"], "it is the topic of dead letters itself"),
    ],
)
def test_wrong_arguments_are_told(arguments: list[str], problem: str) -> None:
    ended = CliRunner().invoke(dlq, [*arguments, "--bootstrap-servers", "127.0.0.1:1"])
    assert (ended.exit_code, problem in ended.stderr) == (2, True)


@pytest.mark.parametrize(
    ("last", "text"),
    [
        ("2026-11-23 06:59:00", "2026-11-23 06:59:00"),
        ("2026-11-23 07:10:00", "2026-11-23 06:59:00 to 07:10:00"),
        ("2026-11-24 07:10:00", "2026-11-23 06:59:00 to 2026-11-24 07:10:00"),
    ],
)
def test_a_range_of_times_names_a_day_once(last: str, text: str) -> None:
    first = dt.datetime(2026, 11, 23, 6, 59, tzinfo=dt.UTC)
    assert time_range(first, dt.datetime.fromisoformat(f"{last}+00:00")) == text
