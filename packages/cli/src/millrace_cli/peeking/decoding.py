"""Decode messages into rows, as a read does, or as dead letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import pyarrow as pa
from confluent_kafka import Message

from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.records.messages import Messages
from millrace.source.reader.decoding_plan import record_batch_builder_for
from millrace.source.reader.error_policy import MalformedRecord
from millrace.spark.schema import arrow_schema, columns_of_read
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
        self._columns = schema if schema is not None else arrow_schema(columns_of_read(config))
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
