"""Messages that give no rows because something is wrong with them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from confluent_kafka import Message

_SHOWN_BYTES = 120


@dataclass(frozen=True, slots=True)
class MalformedRecord:
    """A message that gives no rows because something is wrong with it.

    Attributes:
        message: The message.
        reason: What is wrong, in words for a person.
        format: The format that cannot read it.
        is_key: Whether it is the key that is wrong.
        lenient: The option of the format that would let it pass; None when there is none.
    """

    message: Message
    reason: str
    format: str
    is_key: bool = False
    lenient: str | None = None

    @property
    def place(self) -> str:
        """Where it is, in words."""
        return place_of(self.message)

    def __str__(self) -> str:
        """Where it is, what is wrong, and how it begins."""
        what, payload = ("key", self.message.key()) if self.is_key else ("message", self.message.value())
        return f"malformed {what} in {self.place}: {self.reason}{_beginning(payload)}"

    @property
    def advice(self) -> str:
        """What a user can do about it."""
        skip = "to skip and count {}, set 'ingestion.ignore-errors' to true"
        if self.lenient is None:
            return skip.format("such messages").capitalize()
        return f"To let such messages pass, set {self.lenient!r} to true; {skip.format('them')}"


def place_of(message: Message) -> str:
    """Where a message is, in words."""
    return f"topic {message.topic()!r}, partition {message.partition()}, offset {message.offset()}"


def _beginning(payload: bytes | None) -> str:
    if payload is None:
        return ". It is null"
    if len(payload) <= _SHOWN_BYTES:
        return f". It begins with {_quoted(payload)}"
    # A character that the cut divides is left out
    end = next((end for end in range(_SHOWN_BYTES, _SHOWN_BYTES - 4, -1) if payload[end] & 0xC0 != 0x80), _SHOWN_BYTES)
    return f". It begins with {_quoted(payload[:end])} (the first {end} of {len(payload)} bytes)"


def _quoted(payload: bytes) -> str:
    # Bytes that are no text become lone surrogates, which repr writes as \udcXX: shown as the bytes they are
    return re.sub(r"\\udc([89a-f][0-9a-f])", r"\\x\1", repr(payload.decode("utf-8", "surrogateescape")))
