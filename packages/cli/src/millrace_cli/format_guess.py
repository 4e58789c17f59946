"""Guess the format of a topic from some of its messages."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from millrace.errors import RegistryError

_DELIMITERS = {",": ",", ";": ";", "\t": "\\t", "|": "|"}
_NO_OPTIONS: Mapping[str, str] = {}
_REGISTRY_FORMATS = {"AVRO": "avro-confluent", "JSON": "json-confluent", "PROTOBUF": "protobuf-confluent"}


@dataclass(frozen=True)
class Guess:
    """A format that messages may be in.

    Attributes:
        format: Its name; ``raw`` for what no format can be told of.
        reason: What it was guessed from, for people.
        options: Options of the format that the messages need.
        columns: The columns, as ``a STRING, b STRING``, where the format cannot find them; else None.
    """

    format: str
    reason: str
    options: Mapping[str, str] = field(default_factory=dict)
    columns: str | None = None


def guess_format(
    values: Collection[bytes | None], registry: str | None = None, registry_options: Mapping[str, str] = _NO_OPTIONS
) -> Guess:
    """Guess the format of messages.

    Args:
        values: The values of some messages.
        registry: The URL of the schema registry, if there is one.
        registry_options: Options of its client, see `registry_call`.

    Raises:
        RegistryError: The registry does not tell the schema of the messages.
    """
    payloads = [value for value in values if value]
    if not payloads:
        return Guess("raw", "no message has a value")
    objects = [decoded for payload in payloads if (decoded := _json_object(payload)) is not None]
    if objects:
        guesses = [_dialect(decoded) for decoded in objects]
        return next((guess for guess in guesses if guess.format != "json"), guesses[0])
    if all(payload[0] == 0 and len(payload) > 5 for payload in payloads):
        return _registered(int.from_bytes(payloads[-1][1:5], "big"), registry, registry_options)
    return _delimited(payloads) or Guess(
        "raw",
        "the messages are not JSON: name their format with --format, and their columns with --schema, such as "
        "--format avro --schema 'id BIGINT, name STRING'",
    )


def _json_object(payload: bytes) -> Mapping[str, Any] | None:
    try:
        parsed = json.loads(payload)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


def _dialect(message: Mapping[str, Any]) -> Guess:
    in_schema = isinstance(message.get("payload"), dict) and "schema" in message
    change = message["payload"] if in_schema else message
    if {"op", "after"} <= change.keys():
        options = {"debezium-json.schema-include": "true"} if in_schema else {}
        return Guess("debezium-json", "the messages have op and after", options)
    if "op_type" in message and message.keys() & {"before", "after"}:
        return Guess("ogg-json", "the messages have op_type")
    if {"type", "data"} <= message.keys() and isinstance(message["data"], list):
        return Guess("canal-json", "the messages have type, and data as a list")
    if {"type", "data", "table"} <= message.keys() and isinstance(message["data"], dict):
        return Guess("maxwell-json", "the messages have type and table, and data as an object")
    return Guess("json", "the messages are JSON objects")


def _registered(number: int, registry: str | None, options: Mapping[str, str]) -> Guess:
    """Guess the format of messages that begin with the number of a schema."""
    if registry is None:
        return Guess(
            "raw",
            f"the messages are in a format of a schema registry, with schema {number}: give it by "
            f"--registry http://HOST:8081",
        )
    url = registry.rstrip("/")
    registered = _fetch_schema(url, options, number)
    kind = registered.get("schemaType", "AVRO")
    format_ = _REGISTRY_FORMATS.get(kind)
    if format_ is None:
        return Guess("raw", f"schema {number} is of the unknown kind {kind}")
    if format_ == "avro-confluent" and _is_envelope(registered["schema"]):
        format_ = "debezium-avro-confluent"
    format_options = {f"{format_}.{name}": text for name, text in {**options, "url": url}.items()}
    return Guess(format_, f"schema {number} of the registry is one of {kind}", format_options)


def _is_envelope(schema: str) -> bool:
    parsed = json.loads(schema)
    names = {field["name"] for field in parsed.get("fields", ())} if isinstance(parsed, dict) else set()
    return {"before", "after", "op"} <= names


def _fetch_schema(url: str, options: Mapping[str, str], number: int) -> Any:
    from millrace_cli.schema_registry import registry_call

    answer = registry_call(url, options)(f"{url}/schemas/ids/{number}")
    if answer is None:
        # The URL may contain a login
        raise RegistryError("the schema registry given by --registry does not have the schema of the messages")
    return answer


def _delimited(payloads: Sequence[bytes]) -> Guess | None:
    """Guess csv, of two or more lines that have the same number of columns by the same delimiter."""
    try:
        lines = [payload.decode() for payload in payloads]
    except UnicodeDecodeError:
        return None
    if len(lines) < 2 or any(not line.rstrip("\r\n").isprintable() and "\t" not in line for line in lines):
        return None
    for delimiter, written in _DELIMITERS.items():
        try:
            counts = {len(next(csv.reader([line], delimiter=delimiter, strict=True), [])) for line in lines}
        except csv.Error:
            continue
        if len(counts) == 1 and (count := counts.pop()) > 1:
            columns = ", ".join(f"column_{number} STRING" for number in range(1, count + 1))
            options = {} if delimiter == "," else {"csv.field-delimiter": written}
            reason = f"each message has {count} texts by {written!r}; name them with --schema 'id BIGINT, ...'"
            return Guess("csv", reason, options, columns)
    return None
