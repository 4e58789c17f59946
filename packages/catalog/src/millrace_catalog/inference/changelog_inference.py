"""The plugins that infer the columns of a read of canal-json or debezium-json without a schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pyarrow as pa

from millrace.contracts import SampledMessage, SchemaInference
from millrace.errors import SchemaError
from millrace_catalog.inference.canal_reader import CanalReader
from millrace_catalog.inference.debezium_reader import DebeziumReader
from millrace_catalog.inference.observation import MessageReader, Observation, Position
from millrace_catalog.inference.options import (
    CanalInferenceOptions,
    DebeziumInferenceOptions,
    FormatOptions,
    InferenceOptions,
)
from millrace_catalog.inference.topic_inference import TopicInference
from millrace_catalog.types import Schema
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
        schemas = [self._infer(topic, messages, options, limit) for topic, messages in topics.items()]
        if len(schemas) > 1:
            # Schemas cannot be joined: they do not know any more which columns had only nulls
            messages = [message for sample in topics.values() for message in sample]
            schemas = [self._infer(";".join(topics), messages, replace(options, ignore_parse_errors=True), limit)]
        return pa.schema([]) if not schemas or schemas[0] is None else to_arrow_schema(schemas[0])

    def _infer(
        self, topic: str, messages: Sequence[SampledMessage], options: FormatOptions, limit: InferenceOptions
    ) -> Schema | None:
        inference = TopicInference(topic, _OneTableReader(topic, type(self).reader(topic, options)), limit)
        for message in messages:
            inference.add(Position(message.partition, message.offset), message.value)
        result = inference.result()
        if result.skipped and not result.tables:
            first = result.skipped[0]
            raise SchemaError(
                f"topic {topic!r} holds no changes: none of the {len(messages)} sampled messages has any; "
                f"{first.position}: {first.reason}. Read it with another format, or without one"
            )
        return result.tables[topic].schema if topic in result.tables else None


class CanalSchemaInference(_ChangelogInference):
    """Infer the columns of canal-json: from values, or from the types that messages declare."""

    Options = CanalInferenceOptions
    reader = CanalReader


class DebeziumSchemaInference(_ChangelogInference):
    """Infer the columns of debezium-json from values."""

    Options = DebeziumInferenceOptions
    reader = DebeziumReader


class _OneTableReader:
    """Read the changes of all tables of a topic as those of one table, since a read has one set of columns."""

    def __init__(self, name: str, reader: MessageReader) -> None:
        self._name = name
        self._reader = reader
        self.format, self.options, self.fixed = reader.format, reader.options, reader.fixed

    def read(self, payload: bytes | None) -> Observation | None:
        """Read the columns of a message: see `MessageReader.read`."""
        observation = self._reader.read(payload)
        return None if observation is None else replace(observation, table=self._name, primary_key=None)
