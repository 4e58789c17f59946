from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest

from millrace.options.values import parse_address, parse_duration_ms, parse_time_ms, parse_topics, split_address


@pytest.mark.parametrize(
    ("text", "address"),
    [("10.0.0.7", ("10.0.0.7", 0)), ("driver.internal:7077", ("driver.internal", 7077)), ("[::1]:80", ("::1", 80))],
)
def test_an_address_is_a_host_with_or_without_a_port(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == text
    assert split_address(text) == address


def test_nothing_is_an_address_too() -> None:
    assert parse_address("") == ""


@pytest.mark.parametrize("text", ["a b", ":80", "host:", "host:99999", "::1", "http://host"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected an address as host or host:port$"):
        parse_address(text)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("5 min", 300_000),
        ("5min", 300_000),
        (" 5  MIN ", 300_000),
        ("30 s", 30_000),
        ("1 second", 1_000),
        ("2 h", 7_200_000),
        ("1 d", 86_400_000),
        ("500 ms", 500),
        ("500", 500),
        ("0", 0),
        ("-1", -1),
        ("-5 s", -5_000),
    ],
)
def test_a_duration_is_milliseconds(text: str, milliseconds: int) -> None:
    assert parse_duration_ms(text) == milliseconds


@pytest.mark.parametrize("text", ["", " ", "s", "1.5 s", "5 min 3 s", "5 months", "--1", "1e3", "0x10", "five s"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected a duration such as '5 min', '30 s' or '500 ms'$"):
        parse_duration_ms(text)


@pytest.mark.parametrize(
    ("topics", "problem"),
    [
        ("orders,audit", "separated by ';', not by ','"),
        ("orders.*", "use 'topic-pattern'"),
        ("my orders", "'my orders' cannot be the name of a topic"),
        ("..", "cannot be the name of a topic"),
        ("a" * 250, "up to 249 letters"),
    ],
)
def test_names_that_kafka_refuses_are_told_before_it_does(topics: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        parse_topics(topics)


@pytest.fixture
def in_kolkata() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Kolkata")
        time.tzset()
        yield
    time.tzset()


AT = 1_795_788_000_000
"""2026-11-27 14:00 UTC, in milliseconds."""


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("2026-11-27 14:00Z", AT),
        ("2026-11-27 14:00 UTC", AT),
        (" 2026-11-27T15:00+01:00 ", AT),
        ("2026-11-27T15:00:05.25+01", AT + 5_250),
        ("2026-11-27 06:00:00-0800", AT),
        ("2026-11-27 15:00 Europe/Berlin", AT),
        ("2026-07-27 14:00 Europe/Berlin", AT - 123 * 86_400_000 - 2 * 3_600_000),
        ("2026-11-27 19:30", AT),
        ("2026-11-28", AT + (4 * 60 + 30) * 60_000),
        ("1970-01-01T00:00Z", 0),
    ],
)
@pytest.mark.usefixtures("in_kolkata")
def test_a_time_has_a_zone_or_that_of_the_machine(text: str, millis: int) -> None:
    assert parse_time_ms(text) == millis


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("yesterday", "expected a time such as '2026-11-27 16:00'"),
        ("2026-02-30", "expected a time such as"),
        ("2026-11-27 25:00", "expected a time such as"),
        ("2026-11-27 16:00 Europe/Nowhere", "expected a time such as"),
        ("2026-11-27 16", "expected a time such as"),
        ("1767225600000", "; for milliseconds there is an option timestamp-millis"),
        ("1969-12-31T23:00Z", "expected a time after 1970"),
    ],
)
def test_what_is_no_time_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"^expected a time") as raised:
        parse_time_ms(text)
    assert problem in str(raised.value)
