"""Bytes to messages, or the reason why not, by protobuf's own library."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError

from millrace.errors import MalformedMessageError
from millrace_formats.protobuf.message_methods import is_initialized, missing_fields, parse_from
from millrace_formats.protobuf.reader.memory_budget import HEAVIEST, LARGE, weigher
from millrace_formats.protobuf.reader.unknown_map_entries import odd_entries_finder
from millrace_formats.shared.fallback_decoder import PayloadList

_ERRORS = (DecodeError, RecursionError, MemoryError)


_TOGETHER = 256
"""How many messages are parsed into one object, which keeps the memory of all of them until it is gone."""


class MessageParser:
    """Parses messages of a class.

    Args:
        message_class: The class.
    """

    def __init__(self, message_class: Any) -> None:
        self._class = message_class
        self._has_required_fields = has_required_fields(message_class.DESCRIPTOR)
        self._has_odd_entries = odd_entries_finder(message_class.DESCRIPTOR)
        self._weigh = weigher(message_class.DESCRIPTOR)

    def parse(self, payload: bytes) -> Any:
        """The message that a payload is; MalformedMessageError when it is none, or too heavy."""
        if self._is_heavy(payload):
            raise MalformedMessageError(
                f"it holds so many nested messages that reading it may take {HEAVIEST >> 30} GiB"
            )
        try:
            message = self._class.FromString(payload)
        except _ERRORS as error:
            raise MalformedMessageError(str(error) or "too large or too deep") from None
        if self._has_required_fields and not is_initialized(message):
            raise MalformedMessageError(f"required fields are missing: {', '.join(missing_fields(message))}")
        if self._has_odd_entries is not None and self._has_odd_entries(message):
            raise MalformedMessageError("an entry of a map holds a field that is neither key nor value")
        return message

    def unreadable(self, items: PayloadList) -> set[int]:
        """The indexes of what `parse` refuses, and of nulls, as quickly as can be."""
        light = self._without_heavy(items)
        found: set[int] = set()
        for start in range(0, len(items), _TOGETHER):
            found |= self._unreadable(light[start : start + _TOGETHER], start)
        return found

    def _unreadable(self, items: PayloadList, start: int) -> set[int]:
        """The same of a few, the first of which has the index ``start``."""
        # One object for all is twice as fast as one for each
        message = self._class()
        check = self._checker(message)
        found: set[int] = set()
        pending: Any = iter(items)
        while True:
            try:
                # a deque of no length takes all of them, and drops them, without a step of Python's
                deque(map(check, pending), maxlen=0)
            except (*_ERRORS, MalformedMessageError, TypeError):
                found.add(start + len(items) - pending.__length_hint__() - 1)
            else:
                return found

    def _checker(self, message: Any) -> Callable[[Any], Any]:
        """What raises an error for a payload that `parse` refuses, parsing it into a message."""
        parse: Callable[[Any], Any] = functools.partial(parse_from, message)
        has_odd_entries = self._has_odd_entries
        if not self._has_required_fields and has_odd_entries is None:
            return parse

        def check(payload: bytes) -> None:
            parse(payload)
            if self._has_required_fields and not is_initialized(message):
                raise MalformedMessageError("required fields are missing")
            if has_odd_entries is not None and has_odd_entries(message):
                raise MalformedMessageError("odd entries")

        return check

    def _without_heavy(self, items: PayloadList) -> PayloadList:
        """The payloads, null where they are too heavy."""
        if self._weigh is None or max(map(len, filter(None, items)), default=0) <= LARGE:
            return items
        return [None if item is None or self._is_heavy(item) else item for item in items]

    def _is_heavy(self, payload: bytes) -> bool:
        return self._weigh is not None and len(payload) > LARGE and self._weigh(payload) > HEAVIEST


def has_required_fields(message: Descriptor) -> bool:
    """Whether a message type, or one that it holds, has required fields."""
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
