"""Decoding: from messages to rows of the query's schema."""

from __future__ import annotations

import dataclasses
import re

import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import BadMessage, Decoded, Decoder, Payloads
from millrace.errors import MessageError, PluginError, SchemaError
from millrace.source.fetch import Messages

_SHOWN_BYTES = 120


def decode_values(decoder: Decoder, advice: str, messages: Messages) -> Decoded:
    """The rows that the messages' values decode to, without errors.

    Args:
        decoder: Decodes the values.
        advice: What to do about a malformed message, or nothing.
        messages: The messages.

    Raises:
        MessageError: A message is malformed; says which one, why, and how it begins.
    """
    decoded = decoder.decode(Payloads(list(map(Message.value, messages.items))))
    if decoded.errors:
        raise MessageError(describe_bad(messages, decoded.errors[0], len(decoded.errors)) + advice)
    return decoded


def checked(decoded: Decoded, schema: pa.Schema, message_count: int, name: str) -> Decoded:
    """What a format decoded, if it keeps its contract, with exactly the columns that it was asked for.

    Spark checks the first batch of a task alone, and takes the buffers of others for what they should be.

    Args:
        decoded: What the format gave.
        schema: The columns that it was asked for.
        message_count: How many messages it was given.
        name: The format's name.

    Raises:
        PluginError: Rows are of unknown messages, or have other columns.
        SchemaError: The format gives changes, which are not supported yet.
    """
    if decoded.row_kinds is not None:
        raise SchemaError(f"format {name!r} gives changes (row kinds), which cannot be read yet")
    if decoded.message_index is None and decoded.rows.num_rows != message_count:
        raise PluginError(f"format {name!r} gave {decoded.rows.num_rows} rows for {message_count} messages")
    if decoded.rows.schema == schema:
        return decoded
    try:
        return dataclasses.replace(decoded, rows=decoded.rows.cast(schema))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise PluginError(f"format {name!r} gave other columns than it was asked for: {error}") from error


def describe_bad(messages: Messages, bad: BadMessage, count: int) -> str:
    """One sentence about a malformed message: where it is, what is wrong, and how it begins."""
    message = messages.items[bad.index]
    others = f"; {count - 1} more of {len(messages.items)} messages read together are malformed" if count > 1 else ""
    return (
        f"malformed message in topic {messages.partition.topic!r}, partition {messages.partition.partition}, offset "
        f"{message.offset()}: {bad.reason}{_beginning(message.value())}{others}"
    )


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
