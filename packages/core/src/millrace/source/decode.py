"""Decoding: from messages to rows of the query's schema."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import BadMessage, Decoded, Decoder, Payloads
from millrace.errors import MessageError, PluginError
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
    return _without_errors(decoder.decode(Payloads(list(map(Message.value, messages.items)))), advice, messages)


def decode_keys(decoder: Decoder, advice: str, messages: Messages) -> Decoded:
    """The rows that the messages' keys decode to; arguments and errors are as of `decode_values`."""
    return _without_errors(
        decoder.decode(Payloads(list(map(Message.key, messages.items)))), advice, messages, is_key=True
    )


def _without_errors(decoded: Decoded, advice: str, messages: Messages, *, is_key: bool = False) -> Decoded:
    if decoded.errors:
        raise MessageError(describe_bad(messages, decoded.errors[0], len(decoded.errors), is_key=is_key) + advice)
    return decoded


def checked(decoded: Decoded, schema: pa.Schema, message_count: int, name: str, told: Sequence[str] | None) -> Decoded:
    """What a format decoded, if it keeps its contract, with exactly the columns that it was asked for.

    Spark checks the first batch of a task alone, and takes the buffers of others for what they should be.

    Args:
        decoded: What the format gave.
        schema: The columns that it was asked for.
        message_count: How many messages it was given.
        name: The format's name.
        told: The metadata that it was asked for; None for a format that knows rows and no changes.

    Raises:
        PluginError: Rows are of unknown messages, have other columns, or lack metadata or row kinds.
    """
    count = decoded.rows.num_rows
    if decoded.message_index is None and count != message_count:
        raise PluginError(f"format {name!r} gave {count} rows for {message_count} messages")
    _check_changes(decoded, name, told)
    if decoded.rows.schema == schema:
        return decoded
    try:
        return dataclasses.replace(decoded, rows=decoded.rows.cast(schema))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise PluginError(f"format {name!r} gave other columns than it was asked for: {error}") from error


def _check_changes(decoded: Decoded, name: str, told: Sequence[str] | None) -> None:
    kinds, count = decoded.row_kinds, decoded.rows.num_rows
    if kinds is not None and told is None:
        raise PluginError(f"format {name!r} gave row kinds, but is no ChangelogFormat")
    if kinds is not None and (kinds.type, len(kinds)) != (pa.string(), count):
        raise PluginError(f"format {name!r} gave {len(kinds)} row kinds ({kinds.type}) for {count} rows")
    if told:
        given = decoded.metadata
        if given is None or (given.num_columns, given.num_rows) != (len(told), count):
            raise PluginError(f"format {name!r} did not give {', '.join(told)} for each of {count} rows")


def describe_bad(messages: Messages, bad: BadMessage, count: int, *, is_key: bool = False) -> str:
    """One sentence about a malformed message, or its key: where it is, what is wrong, and how it begins."""
    message = messages.items[bad.index]
    what, payload = ("key", message.key()) if is_key else ("message", message.value())
    others = f"; {count - 1} more of {len(messages.items)} {what}s read together are malformed" if count > 1 else ""
    return (
        f"malformed {what} in topic {messages.partition.topic!r}, partition {messages.partition.partition}, offset "
        f"{message.offset()}: {bad.reason}{_beginning(payload)}{others}"
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
