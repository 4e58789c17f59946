"""Messages that are small as bytes and huge once they are read: very many nested messages with next to nothing in them.

Two bytes are enough for an empty nested message, which takes as much memory as a full one. So a large payload is looked
through, before it is parsed, for what may be the beginnings of short nested messages.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from google.protobuf.descriptor import Descriptor

LARGE = 1 << 20
"""Payloads up to this length, which is as long as Kafka lets messages be by default, are not looked at."""

HEAVIEST = 1 << 30

_SHORT = 16
_SLICE = 1 << 20

Weigh = Callable[[bytes], int]
"""About how much memory the nested messages of a payload take, in bytes; more when other bytes look like some."""


def weigher(message: Descriptor) -> Weigh | None:
    """What weighs messages of a type; None when it holds no other messages."""
    weights = _weights_by_tag(message)
    if not weights.any():
        return None

    def weigh(payload: bytes) -> int:
        data, total = np.frombuffer(payload, np.uint8), 0
        for start in range(0, len(data) - 1, _SLICE):
            part = data[start : start + _SLICE + 1]
            short = part[1:] < _SHORT
            total += int(weights[part[:-1][short]].sum())
        return total

    return weigh


def _weights_by_tag(message: Descriptor) -> np.ndarray:
    """For each byte how much memory a message takes in whose place it stands: of its field's number and wire type."""
    weights = np.zeros(256, np.int64)
    seen, waiting = {message.full_name}, [message]
    while waiting:
        for field in waiting.pop().fields:
            inner = field.message_type
            if inner is None:
                continue
            last = _last_byte(field.number << 3 | 2)
            weights[last] = max(weights[last], 64 + 16 * len(inner.fields))
            if inner.full_name not in seen:
                seen.add(inner.full_name)
                waiting.append(inner)
    return weights


def _last_byte(number: int) -> int:
    """The last byte of a number as protobuf writes it, which stands before the length of a nested message."""
    while number > 127:
        number >>= 7
    return number
