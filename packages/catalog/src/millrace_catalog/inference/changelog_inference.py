"""Inference of the columns of formats of changes: those of all tables of a topic together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa

from millrace.contracts import SampledMessage, SchemaInference
from millrace.errors import SchemaError
from millrace_catalog.inference.canal_reader import CanalReader
from millrace_catalog.inference.debezium_reader import DebeziumReader
from millrace_catalog.inference.maxwell_reader import MaxwellReader
from millrace_catalog.inference.observation import MessageReader, Observation, Position
from millrace_catalog.inference.ogg_reader import OggReader
from millrace_catalog.inference.options import (
    CanalInferenceOptions,
    DebeziumInferenceOptions,
    FormatOptions,
    InferenceOptions,
)
from millrace_catalog.inference.topic_inference import SampledTable, TopicInference
from millrace_catalog.types.arrow import to_arrow_schema


class _ChangelogInference(SchemaInference):
    """Infer the columns of the rows within change messages: those of all tables of the topics together."""

    options: FormatOptions
    reader: ClassVar[Callable[[str, Any], MessageReader]]

    def infer(
        self, topics: Mapping[str, Sequence[SampledMessage]], max_columns: int, *, skip_malformed: bool = False
    ) -> pa.Schema:
        """Infer columns: see `SchemaInference.infer`."""
        options = replace(self.options, ignore_parse_errors=True) if skip_malformed else self.options
        limit = InferenceOptions(max_columns=max_columns)
        tables = [self._infer(topic, messages, options, limit) for topic, messages in topics.items()]
        if len(tables) > 1:
            # Schemas cannot be joined: they do not know any more which columns had only nulls
            messages = [message for sample in topics.values() for message in sample]
            tables = [self._infer(";".join(topics), messages, replace(options, ignore_parse_errors=True), limit)]
        table = tables[0].table if tables else None
        return pa.schema([]) if table is None else to_arrow_schema(table.schema)

    def _infer(
        self, topic: str, messages: Sequence[SampledMessage], options: FormatOptions, limit: InferenceOptions
    ) -> SampledTable:
        return infer_changes(topic, messages, type(self).reader(topic, options), limit)


class CanalSchemaInference(_ChangelogInference):
    """Infer the columns of canal-json: from values, or from the types that messages declare."""

    Options = CanalInferenceOptions
    reader = CanalReader


class DebeziumSchemaInference(_ChangelogInference):
    """Infer the columns of debezium-json from values."""

    Options = DebeziumInferenceOptions
    reader = DebeziumReader


class MaxwellSchemaInference(_ChangelogInference):
    """Infer the columns of maxwell-json from values."""

    Options = FormatOptions
    reader = MaxwellReader


class OggSchemaInference(_ChangelogInference):
    """Infer the columns of ogg-json from values."""

    Options = FormatOptions
    reader = OggReader


class ChangelogReader(NamedTuple):
    """The reader of a format's messages.

    Attributes:
        options_class: The options of inference.
        create: Creates the reader of a topic's messages with options.
    """

    options_class: type[FormatOptions]
    create: Callable[[str, Any], MessageReader]


CHANGELOG_READERS: Mapping[str, ChangelogReader] = {
    "canal-json": ChangelogReader(CanalInferenceOptions, CanalReader),
    "debezium-json": ChangelogReader(DebeziumInferenceOptions, DebeziumReader),
}
"""The formats of changes that the catalog reads."""


def infer_changes(
    topic: str, messages: Sequence[SampledMessage], reader: MessageReader, options: InferenceOptions
) -> SampledTable:
    """Infer the table that has the rows of all changes of a topic.

    It has a primary key if all messages name the same one.

    Raises:
        MessageError: A message is malformed, and malformed messages are not skipped.
        SchemaError: No message is a change; or the table would have too many columns.
    """
    one_table = _OneTableReader(topic, reader)
    inference = TopicInference(topic, one_table, options)
    for message in messages:
        inference.add(Position(message.partition, message.offset), message.value)
    result = inference.result()
    if result.skipped and not result.tables:
        first = result.skipped[0]
        raise SchemaError(
            f"topic {topic!r} holds no changes: none of the {len(messages)} sampled messages has any; "
            f"{first.position}: {first.reason}. Read it with another format, or without one"
        )
    table = result.tables.get(topic)
    if table is not None and len(one_table.primary_keys) == 1:
        table = replace(table, primary_key=one_table.primary_keys.pop() or ())
    return SampledTable(table, len(messages), result.skipped)


class _OneTableReader:
    """Read the changes of all tables of a topic as those of one table, since a read has one set of columns."""

    def __init__(self, name: str, reader: MessageReader) -> None:
        self._name = name
        self._reader = reader
        self.format, self.options, self.fixed = reader.format, reader.options, reader.fixed
        self.primary_keys: set[tuple[str, ...] | None] = set()

    def read(self, payload: bytes | None) -> Observation | None:
        """Read the columns of a message: see `MessageReader.read`."""
        observation = self._reader.read(payload)
        if observation is not None:
            self.primary_keys.add(observation.primary_key)
        return None if observation is None else replace(observation, table=self._name, primary_key=None)
