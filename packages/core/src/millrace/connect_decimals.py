"""Decimals as Kafka Connect's JSON converter writes them by default: bytes of the unscaled number, in base64.

Only the message's schema tells the scale, so that a message without its schema does not tell the number:
https://docs.confluent.io/platform/current/connect/javadocs/javadoc/org/apache/kafka/connect/data/Decimal.html.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

_MAX_BYTES = 17
"""Bytes of a number of 38 digits, with its sign."""


def decimal_advice(value: Any) -> str:
    """Return advice on a value that is no number, if it may be such a decimal; empty if it is not."""
    if not isinstance(value, str) or _is_word(value) or _is_number(value):
        return ""
    try:
        size = len(base64.b64decode(value, validate=True))
    except (binascii.Error, ValueError):
        return ""
    if not 0 < size <= _MAX_BYTES:
        return ""
    return (
        ". It may be a decimal in base64, whose scale only the message's schema tells: set decimal.handling.mode of "
        "Debezium's connector to string, or decimal.format of Kafka Connect's JSON converter to NUMERIC"
    )


def _is_word(text: str) -> bool:
    return text.isalpha() and text[1:].islower()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
