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
        "who": {"name": "masked-1", "age": 2_000_000_002, "vip": False, "x": None, "tags": ["masked-3", "masked-1"]},
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
    assert [message["value"] for message in row["headers"]] == [b"masked-1@example.com", b"2000000001", None]
    assert masks.masked == {"email": 2, "field": 1}


def masked_message(masks: str, **message: Any) -> tuple[bytes | None, bytes | None, list[bytes | None]]:
    """Return key, value and headers of a message with masks."""
    headers = [{"key": f"h{number}", "value": value} for number, value in enumerate(message.pop("headers", ()))]
    rows = pa.Table.from_pylist([{"partition": 0, "offset": 0, "headers": headers, **message}], COLUMNS)
    (row,) = parse_masks(masks).apply(rows).to_pylist()
    return row["key"], row["value"], [header["value"] for header in row["headers"] or ()]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        (b"DE1", b'{"iban": "DE1"}', (b"masked-1", b'{"iban": "masked-1"}')),
        (b'"DE1"', b'{"iban": "DE1"}', (b'"masked-1"', b'{"iban": "masked-1"}')),
        (b'"x\\u0041"', b'{"iban": "xA"}', (b'"masked-1"', b'{"iban": "masked-1"}')),
        (b"17", b'{"iban": 17}', (b"2000000001", b'{"iban": 2000000001}')),
        (b"17", b'{"iban": "17"}', (b"2000000001", b'{"iban": "2000000001"}')),
        (b"DE2", b'{"iban": "DE1"}', (b"DE2", b'{"iban": "masked-1"}')),
    ],
)
def test_a_key_or_header_with_the_value_of_a_masked_field_gets_its_mask(
    key: bytes, value: bytes, expected: tuple[bytes, bytes]
) -> None:
    masked_key, masked_value, (header,) = masked_message("field:iban", key=key, value=value, headers=[key])
    assert (masked_key, masked_value) == expected
    assert header == masked_key


def test_the_same_value_gets_the_same_mask_in_a_header_of_a_field_and_in_json_with_escapes() -> None:
    masks = parse_masks("field:iban")
    values = ['{"iban": "DE1"}', '{"iban": "\\u0044E1"}', "null"]
    messages = [
        {"value": value.encode(), "partition": 0, "offset": 0, "headers": [{"key": "iban", "value": b"DE1"}]}
        for value in values
    ]
    rows = masks.apply(pa.Table.from_pylist(messages, COLUMNS)).to_pylist()
    assert [row["value"] for row in rows] == [b'{"iban": "masked-1"}', b'{"iban": "masked-1"}', b"null"]
    assert {header["value"] for row in rows for header in row["headers"]} == {b"masked-1"}


@pytest.mark.parametrize(
    ("key", "expected"),
    [(b"DE1", b"masked-1"), (b"17", b"2000000001"), (b'{"id": "DE1", "n": null}', b'{"id": "masked-1", "n": null}')],
)
def test_whole_keys_are_masked_and_later_values_get_the_same_mask(key: bytes, expected: bytes) -> None:
    masks = parse_masks("key,field:iban")
    messages = [
        {"key": key, "value": None, "partition": 0, "offset": 0},
        {"key": None, "value": b'{"iban": "DE1"}', "partition": 0, "offset": 1},
    ]
    rows = masks.apply(pa.Table.from_pylist(messages, COLUMNS)).to_pylist()
    assert rows[0]["key"] == expected
    assert (rows[1]["value"] == b'{"iban": "masked-1"}') is (key != b"17")
    assert masks.masked["key"] == 1


def test_json_in_strings_of_json_is_searched() -> None:
    order = json.dumps({"iban": "DE1", "to": "a@acme.com", "n": 1})
    outbox = json.dumps({"payload": order, "twice": json.dumps(order), "no": "{iban"})
    (changed,) = masked("email,field:iban", outbox)
    content = json.loads(changed or "")
    assert json.loads(content["payload"]) == {"iban": "masked-1", "to": "masked-1@example.com", "n": 1}
    assert json.loads(json.loads(content["twice"])) == json.loads(content["payload"])
    assert content["no"] == "{iban"


def test_half_a_surrogate_pair_stays_an_escape() -> None:
    text = '{"to": "\\ud83d a@acme.com", "n": "{\\"to\\": \\"\\ud83d a@acme.com\\"}", "iban": "\\ud83d"}'
    (changed,) = masked("email,field:iban", text)
    content = json.loads(changed or "")
    assert content["to"] == "\ud83d masked-1@example.com"
    assert json.loads(content["n"]) == {"to": "\ud83d masked-1@example.com"}
    assert content["iban"] == "masked-1"


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
    with pytest.raises(ValueError, match="expected email, card, key, or a field of JSON such as field:iban"):
        parse_masks(wrong)
