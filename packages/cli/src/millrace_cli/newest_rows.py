"""Read the newest messages of a table as rows, through the pipeline of a read."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
from confluent_kafka import Message

from millrace.configuration.build import configure_source
from millrace.contracts import CatalogTable, TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.records.messages import Messages
from millrace.sampling.newest import newest_messages
from millrace.source.enumerator.subscriber import subscriber_for
from millrace.source.reader.decoding_plan import record_batch_builder_for
from millrace.source.reader.error_policy import MalformedRecord


class NewestRows(NamedTuple):
    """The rows of the newest messages.

    Attributes:
        rows: The rows, oldest message first.
        malformed: The messages that could not be decoded.
    """

    rows: pa.Table
    malformed: tuple[MalformedRecord, ...]


def newest_rows(table: CatalogTable, count: int) -> NewestRows:
    """Read the messages that are newest by their timestamps, of all partitions together.

    Args:
        table: The table.
        count: Number of messages.

    Raises:
        ClientError: The brokers refused, or did not answer.
    """
    config = configure_source(table.options)
    cluster = KafkaAdmin(config.client)
    partitions = subscriber_for(config.options).partitions(cluster, ()).partitions
    newest = newest_messages(config.client, cluster, partitions, count)
    ordered = sorted((message for messages in newest.values() for message in messages), key=_position)
    build = record_batch_builder_for(config, table.schema)
    # One by one, which keeps the order across partitions
    results = [
        build(Messages(TopicPartition(message.topic(), message.partition()), [message])) for message in ordered[-count:]
    ]
    rows = pa.Table.from_batches([result.batch for result in results], table.schema)
    return NewestRows(rows, tuple(record for result in results for record in result.malformed))


def _position(message: Message) -> tuple[int, int, int]:
    return message.timestamp()[1], message.partition(), message.offset()
