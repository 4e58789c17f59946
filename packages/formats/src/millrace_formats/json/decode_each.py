"""Decoding a batch of messages by msgspec, each on its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from millrace_formats.shared.fallback_decoder import drop_indices, indices_except, not_utf8


def decode_each(decode: Callable[[Any], Any], items: Sequence[Any]) -> tuple[list[Any], set[int]]:
    """What msgspec makes of each message.

    Args:
        decode: A msgspec decoder's method.
        items: The messages, bytes or None.

    Returns:
        The results, and the indexes of the messages that have none, since msgspec refuses them or they are not UTF-8.
    """
    results, left = _results(decode, items)
    # msgspec checks the UTF-8 of the fields that it keeps, not of those that it skips
    more = not_utf8(drop_indices(items, left) if left else items)
    if not more:
        return results, left
    return drop_indices(results, more), left | set(indices_except(len(items), left)[list(more)].tolist())


def _results(decode: Callable[[Any], Any], items: Sequence[Any]) -> tuple[list[Any], set[int]]:
    results: list[Any] = []
    left: set[int] = set()
    pending: Any = iter(items)
    while True:
        try:
            # extend keeps what came before the error, so that a bad message costs no second reading of the others
            results.extend(map(decode, pending))
        except (msgspec.MsgspecError, UnicodeDecodeError, TypeError, RecursionError):
            left.add(len(results) + len(left))
            if len(results) + len(left) + pending.__length_hint__() != len(items):
                raise AssertionError("rows and messages got out of step") from None
        else:
            return results, left
