"""Guess the format of a topic from some of its messages."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple


class Guess(NamedTuple):
    """A format that messages may be in.

    Attributes:
        format: Its name; ``raw`` for what no format can be told of.
        reason: What it was guessed from, for people.
    """

    format: str
    reason: str


def guess_format(values: Collection[bytes | None]) -> Guess:
    """Guess the format of messages.

    Args:
        values: The values of some messages.
    """
    payloads = [value for value in values if value]
    if not payloads:
        return Guess("raw", "no message has a value")
    objects = [found for payload in payloads if (found := _json_object(payload)) is not None]
    if objects:
        guesses = [_dialect(found) for found in objects]
        return next((guess for guess in guesses if guess.format != "json"), guesses[0])
    if all(payload[0] == 0 and len(payload) > 5 for payload in payloads):
        number = int.from_bytes(payloads[-1][1:5], "big")
        return Guess(
            "raw",
            f"the messages are in a format of a schema registry, with schema {number}: try --format avro-confluent "
            f"--option avro-confluent.url=http://HOST:8081, or json-confluent or protobuf-confluent",
        )
    return Guess("raw", "the messages are not JSON: name their format with --format")


def _json_object(payload: bytes) -> Mapping[str, Any] | None:
    try:
        found = json.loads(payload)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _dialect(message: Mapping[str, Any]) -> Guess:
    change = message["payload"] if isinstance(message.get("payload"), dict) else message
    if {"op", "after"} <= change.keys():
        return Guess("debezium-json", "the messages have op and after")
    if {"type", "data"} <= message.keys() and isinstance(message["data"], list):
        return Guess("canal-json", "the messages have type, and data as a list")
    return Guess("json", "the messages are JSON objects")
