"""One JSON text for all texts of the same value, such as 1.5 and 1.50."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Context, Decimal

import msgspec

NORMALIZED_KINDS = frozenset({"DECIMAL", "FLOAT", "DOUBLE", "TIMESTAMP", "TIMESTAMP_LTZ"})
"""The kinds of types of which several texts mean the same value."""

_exact = Context(prec=1_000)
_encode = msgspec.json.Encoder().encode


def normalized(kind: str | None, value: bytes) -> bytes:
    """Return the JSON of a value in the one form that equal values have.

    Args:
        kind: The kind of its type; None for one that has one form only.
        value: The value as JSON.
    """
    if kind is None or value == b"null":
        return value
    if kind == "DECIMAL":
        number = Decimal(value.decode())
        return format(number.normalize(_exact) if number else Decimal(0), "f").encode()
    if kind in ("FLOAT", "DOUBLE"):
        return b"0.0" if value == b"-0.0" else value
    try:
        moment = datetime.fromisoformat(msgspec.json.decode(value))
    except ValueError:
        return value
    return _encode((moment if moment.tzinfo is None else moment.astimezone(UTC)).isoformat(" "))
