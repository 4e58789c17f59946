"""Functions of the user that choose topics or make whole records; Spark runs them for each row before the write."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from millrace.errors import MessageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

TOPIC_COLUMN = "__topic__"
"""The column of the topics that a function has chosen."""

_RECORDS = (
    "ARRAY<STRUCT<topic: STRING, key: BINARY, value: BINARY, partition: INT, timestamp: BIGINT, "
    "headers: ARRAY<STRUCT<key: STRING, value: BINARY>>>>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerRecord:
    """A record that a function builds from a row, like Kafka's class of this name.

    Attributes:
        value: The value, as bytes or text; None for a tombstone.
        key: The key, as bytes or text; None for a record without one.
        topic: The topic; None if the serializer writes to one topic.
        partition: The partition; None to let the partitioner choose.
        timestamp: The timestamp in milliseconds since 1970; None for the time of writing.
        headers: Keys and values of the headers, in order.
    """

    value: bytes | str | None
    key: bytes | str | None = None
    topic: str | None = None
    partition: int | None = None
    timestamp: int | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()


class KafkaTopicSelector(ABC):
    """Choose the topic of each row. A plain function can be used instead."""

    @abstractmethod
    def apply(self, data: Row) -> str:
        """Return the topic of a row; called by Spark's Python workers."""


def add_topics(rows: DataFrame, select_topic: Callable[[Row], str]) -> DataFrame:
    """Add the column `TOPIC_COLUMN` with the topic that a function chooses for each row."""
    from pyspark.sql.functions import struct, udf

    def topic_of(row: Row) -> str:
        topic = select_topic(row)
        if not isinstance(topic, str):
            raise MessageError(f"the topic selector returned {topic!r}; expected the name of a topic")
        return topic

    return rows.withColumn(TOPIC_COLUMN, udf(topic_of, "STRING", useArrow=False)(struct("*")))


def make_records(rows: DataFrame, serialize: Callable[[Row], ProducerRecord | None], *, has_topics: bool) -> DataFrame:
    """Return the records that a function makes of rows, in the columns of Spark's own Kafka connector.

    Args:
        rows: The rows.
        serialize: Makes a record of a row; None for a row that is not written.
        has_topics: Whether each record names its topic.
    """
    from pyspark.sql.functions import inline, struct, udf

    def records_of(row: Row) -> list[tuple[Any, ...]]:
        record = serialize(row)
        if record is None:
            return []
        if not isinstance(record, ProducerRecord):
            raise MessageError(f"the serializer returned {record!r}; expected a millrace.ProducerRecord, or None")
        return [
            (
                record.topic,
                _bytes(record.key),
                _bytes(record.value),
                record.partition,
                record.timestamp,
                list(record.headers),
            )
        ]

    records = rows.select(inline(udf(records_of, _RECORDS, useArrow=False)(struct("*"))))
    return records if has_topics else records.drop("topic")


def _bytes(text: bytes | str | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text
