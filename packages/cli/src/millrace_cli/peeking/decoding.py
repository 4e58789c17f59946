"""Decode messages into rows, as a read does, or as dead letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import pyarrow as pa
from confluent_kafka import Message

from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.errors import OptionsError
from millrace.records.messages import Messages
from millrace.source.reader.decoding_plan import record_batch_builder_for
from millrace.source.reader.error_policy import MalformedRecord
from millrace.spark.schema import arrow_schema, default_schema
from millrace_cli.dead_letters import dead_letter_rows


class DecodedMessages(NamedTuple):
    """The rows of some messages.

    Attributes:
        rows: The rows, in the order of the messages.
        malformed: The messages that could not be decoded.
    """

    rows: pa.Table
    malformed: Sequence[MalformedRecord]


class MessageDecoder(Protocol):
    """Decode messages."""

    def decode(self, messages: Sequence[Message]) -> DecodedMessages:
        """Decode some messages, of any partitions."""


class FormatDecoder:
    """Decode messages through the pipeline of a read.

    Args:
        options: The options of the read.
        schema: Its columns; None for those that the format knows, or that are inferred.

    Raises:
        ClientError: The brokers refused, or did not answer.
        SchemaError: The format needs to be told the columns.
    """

    def __init__(self, options: Mapping[str, str], schema: pa.Schema | None) -> None:
        config = configure_source(options)
        self._columns = schema if schema is not None else arrow_schema(default_schema(config))
        self._build = record_batch_builder_for(config, self._columns)

    def decode(self, messages: Sequence[Message]) -> DecodedMessages:
        """Decode messages one by one, which keeps the order across partitions."""
        results = [
            self._build(Messages(TopicPartition(message.topic(), message.partition()), [message]))
            for message in messages
        ]
        rows = pa.Table.from_batches([result.batch for result in results], self._columns)
        return DecodedMessages(rows, [record for result in results for record in result.malformed])


class DeadLetterDecoder:
    """Show messages as dead letters."""

    def decode(self, messages: Sequence[Message]) -> DecodedMessages:
        """Take positions and reasons from the headers of messages."""
        return DecodedMessages(dead_letter_rows(messages), [])


def with_columns(options: Mapping[str, str], text: str) -> tuple[dict[str, str], pa.Schema]:
    """Return options and schema of a read whose format has the columns of a text, such as ``id BIGINT``.

    Raises:
        OptionsError: The text is no list of columns, or an option is wrong.
    """
    from millrace_catalog.types import parse_schema
    from millrace_catalog.types.arrow import to_arrow_schema
    from millrace_catalog.types.spark_ddl import spark_ddl

    try:
        declared = parse_schema(text)
    except ValueError as error:
        raise OptionsError("source", (f"--schema: {error}",)) from None
    given = {**options, "columns": spark_ddl(declared)}
    config = configure_source(given)
    others = arrow_schema(default_schema(config))
    kinds = [field for field in others if field.name == config.options.row_kind_column]
    metadata = [field for field in others if field.name != config.options.row_kind_column]
    names = {field.name for field in others}
    values = [field for field in to_arrow_schema(declared) if field.name not in names]
    return given, pa.schema([*kinds, *values, *metadata])
