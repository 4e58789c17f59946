"""Masks of messages."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import MessageError
from millrace_cli.recordings.contents import COLUMNS
from millrace_cli.recordings.masking.message_masks import MessageMasks, parse_masks
from millrace_cli.recordings.masking.text_masks import is_card_number

VISA, AMEX = "4111111111111111", "378282246310005"


def masked(masks: str | MessageMasks, *values: str | bytes | None) -> list[str | None]:
    messages = [
        {"value": value.encode() if isinstance(value, str) else value, "partition": 2, "offset": offset}
        for offset, value in enumerate(values)
    ]
    rows = pa.Table.from_pylist(messages, COLUMNS)
    applied = (parse_masks(masks) if isinstance(masks, str) else masks).apply(rows)
    return [None if value is None else value.decode() for value in applied["value"].to_pylist()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a@acme.com, b@acme.com; a@acme.com", "masked-1@example.com, masked-2@example.com; masked-1@example.com"),
        ("<jürgen.o'neil+x@mail.acme.co.uk>.", "<masked-1@example.com>."),
        ("@acme.com a@ a@localhost 3 @ 4.5", "@acme.com a@ a@localhost 3 @ 4.5"),
        ("x" * 100_000 + "@acme.com", "masked-1@example.com"),
    ],
)
def test_addresses_are_masked_in_text(text: str, expected: str) -> None:
    assert masked("email", text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (VISA, "9000000000000001"),
        (f"card={VISA};", "card=9000000000000001;"),
        ("4111 1111 1111 1111 12", "9000 0000 0000 0001 12"),
        ("2024-01-02 4111-1111-1111-1111", "2024-01-02 9000-0000-0000-0001"),
        (f"{VISA} {AMEX} {VISA}.", "9000000000000001 900000000000002 9000000000000001."),
        # Wrong check digit, a time in ms, a longer number, decimals
        (
            "4111111111111112 1732712345678 41111111111111110000000",
            "4111111111111112 1732712345678 41111111111111110000000",
        ),
        (f"0.{VISA} {VISA}.5", f"0.{VISA} {VISA}.5"),
    ],
)
def test_card_numbers_are_masked_in_text(text: str, expected: str) -> None:
    assert masked("card", text) == [expected]


@pytest.mark.parametrize(
    "digits", [VISA, AMEX, "5555555555554444", "2223003122003222", "6011111111111117", "30569309025904"]
)
def test_numbers_of_issuers_are_card_numbers(digits: str) -> None:
    assert is_card_number(digits)
    assert not is_card_number(digits[:-1] + str((int(digits[-1]) + 1) % 10))


def test_json_is_masked_in_its_text_with_escapes_and_keys() -> None:
    text = '{ "to":"jane\\u0040acme.com", "n": 1.00, "card": %s, "c@acme.com": [-1e400, "\\u00e4"] }'
    text = text.replace("%s", VISA)
    (changed,) = masked("email,card", text)
    assert changed == (
        '{ "to":"masked-1@example.com", "n": 1.00, '
        '"card": 9000000000000001, "masked-2@example.com": [-1e400, "\\u00e4"] }'
    )


def test_fields_are_masked_at_any_depth_with_all_that_is_in_them() -> None:
    text = '{"id": 1, "who": {"name": "Jane", "age": 50, "vip": true, "x": null, "tags": ["a", "Jane"]}, "name": "Bob"}'
    changed, again = masked("field:who,field:name", text, '{"name": "Jane", "other": "Jane"}')
    assert json.loads(changed or "") == {
        "id": 1,
        "who": {"name": "masked-1", "age": 2, "vip": False, "x": None, "tags": ["masked-3", "masked-1"]},
        "name": "masked-4",
    }
    assert again == '{"name": "masked-1", "other": "Jane"}'


def test_keys_and_headers_are_masked_and_what_is_null_stays() -> None:
    masks = parse_masks("email,field:user")
    message: dict[str, Any] = {
        "key": b"a@acme.com",
        "value": None,
        "partition": 0,
        "offset": 0,
        "headers": [
            {"key": "from", "value": b"a@acme.com"},
            {"key": "user", "value": b"17"},
            {"key": "user", "value": None},
        ],
    }
    (row,) = masks.apply(pa.Table.from_pylist([message], COLUMNS)).to_pylist()
    assert (row["key"], row["value"]) == (b"masked-1@example.com", None)
    assert [message["value"] for message in row["headers"]] == [b"masked-1@example.com", b"masked-1", None]
    assert masks.masked == {"email": 2, "field": 1}


def test_what_cannot_be_masked_is_an_error_with_its_place() -> None:
    with pytest.raises(
        MessageError, match="the value at partition 2, offset 1 is binary, in which --mask finds nothing"
    ):
        masked("email", "text", b"\0\0\0\0\7a@acme.com")
    with pytest.raises(MessageError, match=r"offset 0 is not JSON, in which --mask finds no fields: .*field:iban"):
        masked("email,field:iban", "iban;DE1")
    assert masked(parse_masks("email", keeps_binary=True), "\0a@acme.com") == ["\0a@acme.com"]


@pytest.mark.parametrize("wrong", ["", "mail", "email,field:", "email;card"])
def test_unknown_masks_are_told(wrong: str) -> None:
    with pytest.raises(ValueError, match="expected email, card, or a field of JSON such as field:iban"):
        parse_masks(wrong)
