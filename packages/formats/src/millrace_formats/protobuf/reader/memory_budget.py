"""Estimate the memory that a message needs once it is parsed.

An empty nested message has two bytes, and takes as much memory as a full one. So a large payload is scanned, before it
is parsed, for bytes that may begin short nested messages.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from google.protobuf.descriptor import Descriptor

LARGE = 1 << 20
"""Payloads up to this length in bytes, Kafka's default limit of messages, are not scanned."""

MEMORY_BUDGET = 1 << 30

_SHORT = 16
_SLICE = 1 << 20

EstimateMemory = Callable[[bytes], int]
"""Estimate the memory of a payload's nested messages, in bytes; too high when other bytes look like some."""


def memory_estimator(message: Descriptor) -> EstimateMemory | None:
    """Return the estimator of a message type; None when it has no nested messages."""
    bytes_by_tag = _memory_by_tag(message)
    if not bytes_by_tag.any():
        return None

    def estimate(payload: bytes) -> int:
        data, total = np.frombuffer(payload, np.uint8), 0
        for start in range(0, len(data) - 1, _SLICE):
            part = data[start : start + _SLICE + 1]
            short = part[1:] < _SHORT
            total += int(bytes_by_tag[part[:-1][short]].sum())
        return total

    return estimate


def _memory_by_tag(message: Descriptor) -> np.ndarray:
    """Return, for each last byte of a tag (field number and wire type), the memory of that field's message."""
    bytes_by_tag = np.zeros(256, np.int64)
    seen, waiting = {message.full_name}, [message]
    while waiting:
        for field in waiting.pop().fields:
            inner = field.message_type
            if inner is None:
                continue
            last = _last_byte(field.number << 3 | 2)
            bytes_by_tag[last] = max(bytes_by_tag[last], 64 + 16 * len(inner.fields))
            if inner.full_name not in seen:
                seen.add(inner.full_name)
                waiting.append(inner)
    return bytes_by_tag


def _last_byte(number: int) -> int:
    """Return the last byte of a varint, which comes before the length of a nested message."""
    while number > 127:
        number >>= 7
    return number
