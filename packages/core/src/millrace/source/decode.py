"""Decoding: from messages to rows of the query's schema."""

from __future__ import annotations

import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import BadMessage, Decoder, Payloads
from millrace.errors import MessageError
from millrace.source.fetch import Messages

_SHOWN_BYTES = 120


def decode_values(decoder: Decoder, messages: Messages) -> pa.RecordBatch:
    """The rows that the messages' values decode to.

    Raises:
        MessageError: A message is malformed; says which one, why, and how it begins.
    """
    decoded = decoder.decode(Payloads(list(map(Message.value, messages.items))))
    if decoded.errors:
        raise MessageError(describe_bad(messages, decoded.errors[0], len(decoded.errors)))
    return decoded.rows


def describe_bad(messages: Messages, bad: BadMessage, count: int) -> str:
    """One sentence about a malformed message: where it is, what is wrong, and how it begins."""
    message = messages.items[bad.index]
    payload = message.value() or b""
    start = repr(payload[:_SHOWN_BYTES].decode("utf-8", "backslashreplace"))
    more = f" (the first {_SHOWN_BYTES} of {len(payload)} bytes)" if len(payload) > _SHOWN_BYTES else ""
    others = f"; {count - 1} more of {len(messages.items)} messages read together are malformed" if count > 1 else ""
    return (
        f"malformed message in topic {messages.partition.topic!r}, partition {messages.partition.partition}, offset "
        f"{message.offset()}: {bad.reason}. It begins with {start}{more}{others}"
    )
