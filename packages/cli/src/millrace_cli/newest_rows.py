"""Read the newest messages of a table as rows, through the pipeline of a read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
from confluent_kafka import Message

from millrace.configuration import SourceConfig
from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.records.messages import Messages
from millrace.sampling.newest import newest_messages
from millrace.source.enumerator.subscriber import subscriber_for
from millrace.source.reader.decoding_plan import record_batch_builder_for
from millrace.source.reader.error_policy import MalformedRecord
from millrace.spark.schema import arrow_schema, default_schema


class NewestRows(NamedTuple):
    """The rows of the newest messages.

    Attributes:
        rows: The rows, oldest message first.
        malformed: The messages that could not be decoded.
        messages: How many messages were read.
    """

    rows: pa.Table
    malformed: tuple[MalformedRecord, ...]
    messages: int


def newest_rows(options: Mapping[str, str], schema: pa.Schema | None, count: int) -> NewestRows:
    """Read the messages that are newest by their timestamps, of all partitions together.

    Args:
        options: The options of a read.
        schema: Its columns; None for those that the format knows, or that are inferred.
        count: Number of messages.

    Raises:
        ClientError: The brokers refused, or did not answer.
        SchemaError: The format needs to be told the columns.
    """
    config = configure_source(options)
    columns = schema if schema is not None else arrow_schema(default_schema(config))
    ordered = _newest(config, count)
    build = record_batch_builder_for(config, columns)
    # One by one, which keeps the order across partitions
    results = [build(Messages(TopicPartition(message.topic(), message.partition()), [message])) for message in ordered]
    rows = pa.Table.from_batches([result.batch for result in results], columns)
    return NewestRows(rows, tuple(record for result in results for record in result.malformed), len(ordered))


def newest_values(options: Mapping[str, str], count: int) -> list[bytes | None]:
    """Return the values of the newest messages, undecoded."""
    return [message.value() for message in _newest(configure_source(options), count)]


def _newest(config: SourceConfig, count: int) -> list[Message]:
    cluster = KafkaAdmin(config.client)
    partitions = subscriber_for(config.options).partitions(cluster, ()).partitions
    newest = newest_messages(config.client, cluster, partitions, count)
    return sorted((message for messages in newest.values() for message in messages), key=_position)[-count:]


def _position(message: Message) -> tuple[int, int, int]:
    return message.timestamp()[1], message.partition(), message.offset()
