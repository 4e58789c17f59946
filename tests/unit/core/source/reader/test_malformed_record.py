from __future__ import annotations

from collections.abc import Callable

import pytest

from millrace.records.messages import Messages
from millrace.source.reader.error_policy import MalformedRecord

Make = Callable[..., Messages]


@pytest.fixture
def bad(messages: Make) -> Callable[..., MalformedRecord]:
    """A malformed message with this value."""
    return lambda value, **key: MalformedRecord(
        messages({"value": value, **key}).items[0], "bad", "json", is_key=bool(key)
    )


def test_a_malformed_message_is_told_with_its_place_the_reason_and_its_beginning(messages: Make) -> None:
    second = messages({"value": b"good"}, {"value": b"caf\xe9 noir"}).items[1]
    assert str(MalformedRecord(second, "it is not UTF-8", "json")) == (
        r"malformed message in topic 'orders', partition 3, offset 101: it is not UTF-8. It begins with 'caf\xe9 noir'"
    )


def test_a_malformed_key_is_told_to_be_the_key(bad: Callable[..., MalformedRecord]) -> None:
    assert str(bad(b"good", key=b"{oops")) == (
        "malformed key in topic 'orders', partition 3, offset 100: bad. It begins with '{oops'"
    )


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        (b'{"a": 1', "'{\"a\": 1'"),
        (b"it's", '"it\'s"'),
        (b"a\nb\tc", r"'a\nb\tc'"),
        ("grün".encode(), "'grün'"),
        (b"\x00\xff", r"'\x00\xff'"),
        (b"C:\\temp", r"'C:\\temp'"),
        (b"", "''"),
    ],
)
def test_the_beginning_is_shown_as_python_writes_it(
    bad: Callable[..., MalformedRecord], payload: bytes, shown: str
) -> None:
    assert str(bad(payload)).endswith(f": bad. It begins with {shown}")


def test_of_a_long_payload_the_beginning_is_shown(bad: Callable[..., MalformedRecord]) -> None:
    told = str(bad(b"x" * 5_000))
    assert told.endswith(f"It begins with '{'x' * 120}' (the first 120 of 5000 bytes)")


def test_a_character_is_not_cut_in_two(bad: Callable[..., MalformedRecord]) -> None:
    assert r"\xc3" not in str(bad(("x" * 119 + "ü" * 10).encode()))


def test_a_null_payload_is_told_as_such(bad: Callable[..., MalformedRecord]) -> None:
    assert str(bad(None)).endswith(": bad. It is null")


def test_the_advice_names_what_lets_a_message_pass_and_what_skips_it(messages: Make) -> None:
    (message,) = messages({"value": b"x"}).items
    assert MalformedRecord(message, "bad", "raw").hint == (
        "To skip and count such messages, set 'ingestion.ignore-errors' to true"
    )
    assert MalformedRecord(message, "bad", "json", lenient_option="json.ignore-parse-errors").hint == (
        "To let such messages pass, set 'json.ignore-parse-errors' to true; to skip and count them, set "
        "'ingestion.ignore-errors' to true"
    )
