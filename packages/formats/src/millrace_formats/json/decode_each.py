"""Decoding a batch of messages by msgspec, each on its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from millrace_formats.two_paths import not_utf8


def decode_each(decode: Callable[[Any], Any], items: Sequence[Any]) -> tuple[list[Any], set[int]]:
    """What msgspec makes of each message.

    Args:
        decode: A msgspec decoder's method.
        items: The messages, bytes or None.

    Returns:
        The results, None for the messages that msgspec refuses, and the indexes of those and of the messages that are
        not UTF-8.
    """
    results, left = _results(decode, items)
    # msgspec checks the UTF-8 of the fields that it keeps, not of those that it skips
    return results, left | not_utf8(_blanked(items, left))


def _results(decode: Callable[[Any], Any], items: Sequence[Any]) -> tuple[list[Any], set[int]]:
    results: list[Any] = []
    left: set[int] = set()
    pending: Any = iter(items)
    while True:
        try:
            # extend keeps what came before the error, so that a bad message costs no second reading of the others
            results.extend(map(decode, pending))
        except (msgspec.MsgspecError, UnicodeDecodeError, TypeError, RecursionError):
            left.add(len(results))
            results.append(None)
            if len(results) + pending.__length_hint__() != len(items):
                raise AssertionError("rows and messages got out of step") from None
        else:
            return results, left


def _blanked(items: Sequence[Any], left: set[int]) -> Sequence[bytes]:
    """The messages, empty where they are left."""
    blanked: list[Any] = list(items)
    for index in left:
        blanked[index] = b""
    return blanked
