"""Advice on decimals in base64."""

from __future__ import annotations

import base64

import pytest

from millrace.connect_decimals import decimal_advice


@pytest.mark.parametrize("number", [500, -1, 10**38 - 1])
def test_a_decimal_in_base64_is_told(number: int) -> None:
    text = base64.b64encode(number.to_bytes(number.bit_length() // 8 + 1, signed=True)).decode()
    assert "set decimal.handling.mode of Debezium's connector to string" in decimal_advice(text)


@pytest.mark.parametrize("value", [None, 5, "", "12.50", "12345678", "1E+2", "high", "High", "n/a", "A" * 40])
def test_other_values_get_no_advice(value: object) -> None:
    assert decimal_advice(value) == ""
