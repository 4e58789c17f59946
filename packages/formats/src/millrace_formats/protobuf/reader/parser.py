"""Parse messages with protobuf's own library, or say why they are malformed."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from operator import length_hint
from typing import Any

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError

from millrace.errors import MalformedMessageError
from millrace_formats.protobuf.message_methods import is_initialized, missing_fields, parse_from
from millrace_formats.protobuf.reader.memory_budget import LARGE, MEMORY_BUDGET, memory_estimator
from millrace_formats.protobuf.reader.unknown_map_entries import unknown_entries_check
from millrace_formats.shared.fallback_decoder import PayloadList

_ERRORS = (DecodeError, RecursionError, MemoryError)


_MESSAGES_PER_OBJECT = 256
"""Messages that are parsed into one object, which keeps the memory of all of them until it is freed."""


class MessageParser:
    """Parse messages of a class.

    Args:
        message_class: The class.
    """

    def __init__(self, message_class: Any) -> None:
        self._class = message_class
        self._has_required_fields = has_required_fields(message_class.DESCRIPTOR)
        self._has_unknown_entries = unknown_entries_check(message_class.DESCRIPTOR)
        self._estimate_memory = memory_estimator(message_class.DESCRIPTOR)

    def parse(self, payload: bytes) -> Any:
        """Parse a payload; MalformedMessageError when it is not a message, or needs too much memory."""
        if self._exceeds_budget(payload):
            raise MalformedMessageError(
                f"it holds so many nested messages that reading it may take {MEMORY_BUDGET >> 30} GiB"
            )
        try:
            message = self._class.FromString(payload)
        except _ERRORS as error:
            raise MalformedMessageError(str(error) or "too large or too deep") from None
        if self._has_required_fields and not is_initialized(message):
            raise MalformedMessageError(f"required fields are missing: {', '.join(missing_fields(message))}")
        if self._has_unknown_entries is not None and self._has_unknown_entries(message):
            raise MalformedMessageError("an entry of a map holds a field that is neither key nor value")
        return message

    def unreadable(self, items: PayloadList) -> set[int]:
        """Return the indices of payloads that `parse` refuses, and of nulls."""
        within_budget = self._without_large(items)
        indices: set[int] = set()
        for start in range(0, len(items), _MESSAGES_PER_OBJECT):
            indices |= self._unreadable(within_budget[start : start + _MESSAGES_PER_OBJECT], start)
        return indices

    def _unreadable(self, items: PayloadList, start: int) -> set[int]:
        """Return the indices of a part of the payloads, whose first index is ``start``."""
        # Parsing into one object is twice as fast as making one for each message
        message = self._class()
        check = self._checker(message)
        indices: set[int] = set()
        pending = iter(items)
        while True:
            try:
                # a deque of length 0 consumes the iterator in C
                deque(map(check, pending), maxlen=0)
            except (*_ERRORS, MalformedMessageError, TypeError):
                indices.add(start + len(items) - length_hint(pending) - 1)
            else:
                return indices

    def _checker(self, message: Any) -> Callable[[Any], Any]:
        """Return a function that parses a payload into a message and raises an error where `parse` does."""
        parse: Callable[[Any], Any] = functools.partial(parse_from, message)
        has_unknown_entries = self._has_unknown_entries
        if not self._has_required_fields and has_unknown_entries is None:
            return parse

        def check(payload: bytes) -> None:
            parse(payload)
            if self._has_required_fields and not is_initialized(message):
                raise MalformedMessageError("required fields are missing")
            if has_unknown_entries is not None and has_unknown_entries(message):
                raise MalformedMessageError("unknown fields in map entries")

        return check

    def _without_large(self, items: PayloadList) -> PayloadList:
        """Return the payloads, null where they need too much memory."""
        if self._estimate_memory is None or max(map(len, filter(None, items)), default=0) <= LARGE:
            return items
        return [None if item is None or self._exceeds_budget(item) else item for item in items]

    def _exceeds_budget(self, payload: bytes) -> bool:
        return (
            self._estimate_memory is not None
            and len(payload) > LARGE
            and self._estimate_memory(payload) > MEMORY_BUDGET
        )


def has_required_fields(message: Descriptor) -> bool:
    """Return whether a message type, or one of its nested types, has required fields."""
    seen: set[str] = set()
    waiting = [message]
    while waiting:
        current = waiting.pop()
        if current.full_name in seen:
            continue
        seen.add(current.full_name)
        if any(field.is_required for field in current.fields):
            return True
        waiting += [field.message_type for field in current.fields if field.message_type is not None]
    return False
