"""The newest messages of a table as rows, made as a read makes them."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
from confluent_kafka import Message

from millrace.configuration.build import configure_source
from millrace.contracts import CatalogTable, TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.records.messages import Messages
from millrace.sampling.newest import newest_messages
from millrace.source.enumerator.subscriber import selection_of
from millrace.source.reader.malformed_record import MalformedRecord
from millrace.source.reader.pipeline import rows_for


class NewestRows(NamedTuple):
    """What the newest messages became.

    Attributes:
        rows: Their rows, oldest first.
        bad: Those that could not be decoded.
    """

    rows: pa.Table
    bad: tuple[MalformedRecord, ...]


def newest_rows(table: CatalogTable, count: int) -> NewestRows:
    """The rows of the newest messages, by their timestamps, of all partitions together.

    Raises:
        ClientError: The brokers refused, or did not answer.
    """
    config = configure_source(table.options)
    cluster = KafkaAdmin(config.client)
    partitions = selection_of(config.options).find(cluster, ()).partitions
    newest = newest_messages(config.client, cluster, partitions, count)
    ordered = sorted((each for found in newest.values() for each in found), key=_age)
    to_rows = rows_for(config, table.schema)
    # One by one, so that the order stays
    made = [to_rows(Messages(TopicPartition(each.topic(), each.partition()), [each])) for each in ordered[-count:]]
    rows = pa.Table.from_batches([each.batch for each in made], table.schema)
    return NewestRows(rows, tuple(bad for each in made for bad in each.bad))


def _age(message: Message) -> tuple[int, int, int]:
    return message.timestamp()[1], message.partition(), message.offset()
