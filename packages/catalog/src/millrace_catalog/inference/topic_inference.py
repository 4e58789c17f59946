"""Inference of the tables of a topic from some of its messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from millrace.errors import MalformedMessageError, MessageError, SchemaError
from millrace.row_arrays import rows_in
from millrace_catalog.inference.json_reader import JsonReader
from millrace_catalog.inference.observation import MessageReader, Observation, Position
from millrace_catalog.inference.options import InferenceOptions, JsonInferenceOptions, JsonSchemaOptions
from millrace_catalog.inference.result import InferenceResult, InferredColumn, InferredTable, SkippedMessage
from millrace_catalog.inference.table_inference import TableInference
from millrace_catalog.types import STRING

if TYPE_CHECKING:
    from millrace.contracts import SampledMessage

_SHOWN_BYTES = 60


class TopicInference:
    """Infer the tables of a topic, message by message.

    The types do not depend on the order of the messages; the order of columns and the evidence do.

    Args:
        topic: Name of the topic, for errors.
        reader: Reader of its messages.
        options: Options that do not depend on the format.
    """

    def __init__(self, topic: str, reader: MessageReader, options: InferenceOptions | None = None) -> None:
        self._topic = topic
        self._reader = reader
        self._options = options or InferenceOptions()
        self._tables: dict[str, TableInference] = {}
        self._empty_messages = 0
        self._skipped: list[SkippedMessage] = []

    def add(self, position: Position, payload: bytes | None) -> None:
        """Add a message.

        Args:
            position: Partition and offset of the message.
            payload: Value of the message; None for a tombstone.

        Raises:
            MessageError: It is malformed, and malformed messages are not skipped.
            SchemaError: Its table would have too many columns, or another primary key.
        """
        try:
            observation = self._reader.read(payload)
        except MalformedMessageError as error:
            self._skip(position, str(error), payload or b"")
            return
        if observation is None:
            self._empty_messages += 1
        else:
            self._observe(observation, position)

    def result(self) -> InferenceResult:
        """Return the tables inferred so far."""
        tables = {name: table.result() for name, table in self._tables.items()}
        return InferenceResult(tables, self._empty_messages, tuple(self._skipped))

    def _observe(self, observation: Observation, position: Position) -> None:
        table = self._tables.get(observation.table)
        if table is None:
            table = TableInference(observation.table, self._reader.fixed, self._options.max_columns)
            self._tables[observation.table] = table
        try:
            table.add(observation, position)
        except SchemaError as error:
            raise SchemaError(f"topic {self._topic!r}: {error}") from None

    def _skip(self, position: Position, reason: str, payload: bytes) -> None:
        if not self._reader.options.ignore_parse_errors:
            raise _malformed_message(self._topic, self._reader.format, position, reason, payload)
        self._skipped.append(SkippedMessage(position, reason))


def messages_by_table(
    topic: str, messages: Iterable[SampledMessage], json: JsonInferenceOptions
) -> dict[str, list[SampledMessage]]:
    """Return the messages of each of a topic's tables, by the ids that their fields name, without tombstones.

    A message that is an array has one for each of its rows.

    Raises:
        MessageError: A message is malformed, and malformed messages are not skipped.
    """
    # What columns there are does not matter yet
    reader = JsonReader(topic, JsonInferenceOptions(table_fields=json.table_fields))
    by_table: dict[str, list[SampledMessage]] = {}
    for message in messages:
        for row in rows_in(message.value):
            try:
                observation = reader.read(row)
            except MalformedMessageError as error:
                if not json.ignore_parse_errors:
                    position = Position(message.partition, message.offset)
                    raise _malformed_message(topic, reader.format, position, str(error), row or b"") from error
            else:
                if observation is not None:
                    by_table.setdefault(observation.table, []).append(replace(message, value=row))
    return by_table


def _malformed_message(topic: str, format_: str, position: Position, reason: str, payload: bytes) -> MessageError:
    return MessageError(
        f"malformed message in topic {topic!r}, {position}: {reason}. It begins with {payload[:_SHOWN_BYTES]!r}. Set "
        f"{format_}.ignore-parse-errors to true to infer the schema without such messages"
    )


@dataclass(frozen=True)
class SampledTable:
    """The one table of a topic, inferred from a sample of its messages.

    Attributes:
        table: The table; None when no message has columns.
        messages: Number of sampled messages.
        skipped: Malformed messages among them.
    """

    table: InferredTable | None
    messages: int
    skipped: tuple[SkippedMessage, ...]


def infer_table(
    topic: str, messages: Iterable[SampledMessage], json: JsonSchemaOptions, options: InferenceOptions
) -> SampledTable:
    """Infer the one table of a topic from the values of its messages.

    Raises:
        MessageError: A message is malformed, and malformed messages are not skipped.
        SchemaError: There are values, but none is a JSON object; or the table would have too many columns.
    """
    count = 0
    reader = JsonReader(topic, replace(to_inference_options(json), ignore_parse_errors=True))
    inference = TopicInference(topic, reader, options)
    for message in messages:
        count += 1
        for row in rows_in(message.value):
            inference.add(Position(message.partition, message.offset), row)
    result = inference.result()
    if result.skipped:
        _check_skipped(topic, result, count, ignore=json.ignore_parse_errors)
    table = result.tables.get(topic)
    if table is None or not table.columns:
        return SampledTable(None, count, result.skipped)
    return SampledTable(_with_rescued_column(topic, table, json.rescued), count, result.skipped)


def table_of_fixed_types(topic: str, json: JsonSchemaOptions) -> SampledTable:
    """Return a topic's table without reading messages: its columns are those of fixed types."""
    columns = tuple(
        InferredColumn(column.name, column.type, (), ((column.name,),), True) for column in json.fixed_types
    )
    table = _with_rescued_column(topic, InferredTable(topic, columns), json.rescued) if columns else None
    return SampledTable(table, 0, ())


def to_inference_options(json: JsonSchemaOptions) -> JsonInferenceOptions:
    """Convert the options of a topic with one table to those of `JsonReader`."""
    return JsonInferenceOptions(**{field.name: getattr(json, field.name) for field in fields(JsonSchemaOptions)})


def _with_rescued_column(topic: str, table: InferredTable, name: str | None) -> InferredTable:
    if name is None:
        return table
    if name in table.schema.names:
        raise SchemaError(
            f"topic {topic!r}: messages have a field {name!r}; give option 'json.rescued-data-column' another name"
        )
    return replace(table, columns=(*table.columns, InferredColumn(name, STRING, (), ())))


def _check_skipped(topic: str, result: InferenceResult, count: int, *, ignore: bool) -> None:
    first = result.skipped[0]
    if not result.tables:
        raise SchemaError(
            f"topic {topic!r} holds no JSON objects: none of the {count} sampled messages is one; {first.position}: "
            f"{first.reason}. Read it with another format, or without one"
        )
    if not ignore:
        raise MessageError(
            f"malformed message in topic {topic!r}, {first.position}: {first.reason} ({len(result.skipped)} of {count} "
            f"sampled messages are malformed). Set json.ignore-parse-errors to true to infer the schema without such "
            f"messages"
        )
