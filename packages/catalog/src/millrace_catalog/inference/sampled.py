"""Inferring the one table of a topic from messages that were looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from millrace.errors import MessageError, SchemaError
from millrace_catalog.inference.json_reader import JsonReader
from millrace_catalog.inference.observation import Position
from millrace_catalog.inference.options import InferenceOptions, JsonInferenceOptions, JsonSchemaOptions
from millrace_catalog.inference.result import Inferred, InferredColumn, InferredTable, Skipped
from millrace_catalog.inference.topic_inference import Inference
from millrace_catalog.types import STRING

if TYPE_CHECKING:
    from millrace.contracts import SampledMessage


@dataclass(frozen=True)
class SampledTable:
    """What messages say of their topic.

    Attributes:
        table: Its columns; None when no message tells any.
        messages: How many messages were looked at.
        skipped: Those that are malformed.
    """

    table: InferredTable | None
    messages: int
    skipped: tuple[Skipped, ...]


def infer_table(
    topic: str, messages: Iterable[SampledMessage], json: JsonSchemaOptions, options: InferenceOptions
) -> SampledTable:
    """The table that messages make.

    Raises:
        MessageError: One of them is malformed, and such messages are not to be skipped.
        SchemaError: None of them is a JSON object, though some have values; or they have too many columns.
    """
    count = 0
    inference = Inference(topic, JsonReader(topic, replace(all_options(json), ignore_parse_errors=True)), options)
    for message in messages:
        count += 1
        inference.add(Position(message.partition, message.offset), message.value)
    inferred = inference.result()
    if inferred.skipped:
        _check(topic, inferred, count, ignore=json.ignore_parse_errors)
    table = inferred.tables.get(topic)
    if table is None or not table.columns:
        return SampledTable(None, count, inferred.skipped)
    return SampledTable(_with_rescued(topic, table, json.rescued), count, inferred.skipped)


def all_options(json: JsonSchemaOptions) -> JsonInferenceOptions:
    """The options of json where a topic is one table, as its readers take them."""
    return JsonInferenceOptions(**{each.name: getattr(json, each.name) for each in fields(JsonSchemaOptions)})


def _with_rescued(topic: str, table: InferredTable, name: str | None) -> InferredTable:
    if name is None:
        return table
    if name in table.schema.names:
        raise SchemaError(
            f"topic {topic!r}: messages have a field {name!r}; give option 'json.rescued-data-column' another name"
        )
    return replace(table, columns=(*table.columns, InferredColumn(name, STRING, (), ())))


def _check(topic: str, inferred: Inferred, count: int, *, ignore: bool) -> None:
    first = inferred.skipped[0]
    if not inferred.tables:
        raise SchemaError(
            f"topic {topic!r} holds no JSON objects: none of the {count} messages that were looked at is one; "
            f"{first.position}: {first.reason}. Read it by another format, or without one"
        )
    if not ignore:
        raise MessageError(
            f"malformed message in topic {topic!r}, {first.position}: {first.reason} ({len(inferred.skipped)} of "
            f"{count} messages that were looked at are malformed). Set json.ignore-parse-errors to true to infer the "
            f"schema without such messages"
        )
