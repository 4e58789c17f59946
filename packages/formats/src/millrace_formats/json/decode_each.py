"""Decode the messages of a batch with msgspec, one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import length_hint
from typing import Any

import msgspec

from millrace_formats.shared.fallback_decoder import drop_indices, indices_except, not_utf8


def decode_each(decode: Callable[[Any], Any], payloads: Sequence[Any]) -> tuple[list[Any], set[int]]:
    """Decode each message.

    Args:
        decode: A msgspec decoder's method.
        payloads: The messages, bytes or None.

    Returns:
        The results, and the indices of messages without one: msgspec refuses them, or they are not UTF-8.
    """
    results, refused = _decode(decode, payloads)
    # msgspec checks the UTF-8 of the fields that it keeps, not of those that it skips
    broken = not_utf8(drop_indices(payloads, refused) if refused else payloads)
    if not broken:
        return results, refused
    return drop_indices(results, broken), refused | set(indices_except(len(payloads), refused)[list(broken)].tolist())


def _decode(decode: Callable[[Any], Any], payloads: Sequence[Any]) -> tuple[list[Any], set[int]]:
    results: list[Any] = []
    refused: set[int] = set()
    pending = iter(payloads)
    while True:
        try:
            # extend keeps the results before the error, so that a bad message costs no second decoding of the others
            results.extend(map(decode, pending))
        except (msgspec.MsgspecError, UnicodeDecodeError, TypeError, RecursionError):
            refused.add(len(results) + len(refused))
            if len(results) + len(refused) + length_hint(pending) != len(payloads):
                raise AssertionError("rows and messages got out of step") from None
        else:
            return results, refused
