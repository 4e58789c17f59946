from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from millrace.contracts import BadMessage, Decoded, Decoder, Payloads
from millrace.errors import MessageError
from millrace.source.decode import decode_values, describe_bad
from millrace.source.fetch import Messages

Make = Callable[..., Messages]


class Texts(Decoder):
    """One row for each message that is text; whitespace separates further rows."""

    def decode(self, payloads: Payloads) -> Decoded:
        rows: list[str] = []
        errors: list[BadMessage] = []
        for index, payload in enumerate(payloads.to_list()):
            try:
                rows += (payload or b"").decode().split()
            except UnicodeDecodeError:
                errors.append(BadMessage(index, "it is not UTF-8"))
        return Decoded(pa.record_batch({"text": rows}), errors=tuple(errors))


def test_values_become_rows(messages: Make) -> None:
    decoded = decode_values(Texts(), "", messages({"value": b"a b"}, {"value": None}, {"value": b"c"}))
    assert decoded.rows.to_pydict() == {"text": ["a", "b", "c"]}


def test_a_malformed_message_is_told_with_its_place_the_reason_and_its_beginning(messages: Make) -> None:
    with pytest.raises(MessageError) as error:
        decode_values(Texts(), "", messages({"value": b"good"}, {"value": b"caf\xe9 noir"}))
    assert str(error.value) == (
        r"malformed message in topic 'orders', partition 3, offset 101: it is not UTF-8. It begins with 'caf\xe9 noir'"
    )


def test_the_first_of_several_malformed_messages_is_told_and_how_many_more_there_are(messages: Make) -> None:
    with pytest.raises(MessageError) as error:
        decode_values(Texts(), "", messages({"value": b"\xe9"}, {"value": b"good"}, {"value": b"\xe8"}))
    assert "offset 100: " in str(error.value)
    assert str(error.value).endswith("; 1 more of 3 messages read together are malformed")


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
def test_the_beginning_is_shown_as_python_writes_it(messages: Make, payload: bytes, shown: str) -> None:
    told = describe_bad(messages({"value": payload}), BadMessage(0, "bad"), 1)
    assert told.endswith(f": bad. It begins with {shown}")


def test_of_a_long_payload_the_beginning_is_shown(messages: Make) -> None:
    told = describe_bad(messages({"value": b"x" * 5_000}), BadMessage(0, "bad"), 1)
    assert told.endswith(f"It begins with '{'x' * 120}' (the first 120 of 5000 bytes)")


def test_a_character_is_not_cut_in_two(messages: Make) -> None:
    told = describe_bad(messages({"value": ("x" * 119 + "ü" * 10).encode()}), BadMessage(0, "bad"), 1)
    assert r"\xc3" not in told


def test_a_null_payload_is_told_as_such(messages: Make) -> None:
    assert "It begins with" not in describe_bad(messages({"value": None}), BadMessage(0, "it is null"), 1)
