"""Advice for columns without a field, times of the other standard, and decimals in base64."""

from __future__ import annotations

import logging

import pyarrow as pa
import pytest

from millrace.contracts import Payloads
from millrace_formats.json.decoder import JsonDecoder
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.time_advice import time_format_advice

ZONED = pa.timestamp("us", "UTC")
LOCAL = pa.timestamp("us")


def decode(caplog: pytest.LogCaptureFixture, columns: list[str], *batches: list[bytes | None]) -> list[str]:
    """Return what is logged while batches are decoded."""
    decoder = JsonDecoder(pa.schema([(name, pa.int64()) for name in columns]), JsonOptions())
    with caplog.at_level(logging.WARNING, "millrace.json"):
        for batch in batches:
            decoder.decode(Payloads(batch))
    return caplog.messages


def test_a_column_that_no_message_has_a_field_for_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    batch: list[bytes | None] = [b'{"id": 1, "total": 2}', None, b'{"id": 2}']
    (told,) = decode(caplog, ["Id", "total"], batch, batch)
    assert told == (
        "none of the first 2 messages has a field for column Id (did you mean id? names are case-sensitive), which is "
        "NULL; they have id, total"
    )


def test_a_field_that_is_null_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    assert decode(caplog, ["id"], [b'{"id": null}']) == []


@pytest.mark.parametrize(
    ("text", "type_", "iso", "advice"),
    [
        ("2020-01-01T00:00:00Z", ZONED, False, "'json.timestamp-format.standard' = 'ISO-8601'"),
        ("2020-01-01 00:00:00", ZONED, True, "'json.timestamp-format.standard' = 'SQL'"),
        ("2020-01-01T00:00:00Z", LOCAL, True, ". It has a zone: declare the column as TIMESTAMP"),
        ("2020-01-01T00:00:00Z", LOCAL, False, "declare the column as TIMESTAMP. To read ISO-8601 times"),
    ],
)
def test_a_time_of_another_standard_is_told(text: str, type_: pa.DataType, iso: bool, advice: str) -> None:
    assert advice in time_format_advice(text, type_, iso)


@pytest.mark.parametrize(("value", "type_"), [("noon", ZONED), (5, ZONED), ("2020-01-01T00:00:00Z", pa.string())])
def test_other_values_get_no_advice(value: object, type_: pa.DataType) -> None:
    assert time_format_advice(value, type_, iso=False) == ""


def test_a_decimal_in_base64_is_an_error_with_advice() -> None:
    decoder = JsonDecoder(pa.schema([("price", pa.decimal128(10, 2))]), JsonOptions())
    (error,) = decoder.decode(Payloads([b'{"price": "AfQ="}'])).errors
    assert 'field price: "AfQ=" cannot be read as DECIMAL(10,2)' in error.reason
    assert "set decimal.handling.mode of Debezium's connector to string" in error.reason
