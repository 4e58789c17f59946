"""A stream of messages that are there from the beginning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

from millrace.streams import stream_reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

MESSAGE_SCHEMA = "topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, key BINARY, value BINARY"
"""The columns of a stream of messages."""


def read_values(spark: SparkSession, messages: Sequence[bytes]) -> DataFrame:
    """Return a stream of messages, in one partition."""
    all_messages = tuple(messages)

    class ValuesSource(ValuesDataSource):
        messages = all_messages

    spark.dataSource.register(ValuesSource)
    return stream_reader(spark, "values").format(ValuesSource.name()).load()


class ValuesDataSource(DataSource):
    """A source of messages; a subclass has them."""

    messages: ClassVar[tuple[bytes, ...]] = ()

    @classmethod
    def name(cls) -> str:
        """Return the name of the source."""
        return "millrace-values"

    def schema(self) -> str:
        """Return the columns of messages."""
        return MESSAGE_SCHEMA

    def streamReader(self, schema: StructType) -> ValuesReader:  # noqa: N802 - Spark's name
        """Make a reader."""
        return ValuesReader(self.messages)


class _Messages(InputPartition):
    def __init__(self, first: int, messages: Sequence[bytes]) -> None:
        super().__init__(first)
        self.first = first
        self.messages = messages


class ValuesReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reader of such a stream; an offset is a number of messages.

    Args:
        messages: All messages.
    """

    def __init__(self, messages: Sequence[bytes]) -> None:
        self._messages = messages

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Do nothing: there will be no other messages."""

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Return the beginning."""
        return {"offset": 0}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Return the end."""
        return {"offset": max(start["offset"], len(self._messages))}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """Return the messages of a micro-batch."""
        first = start["offset"]
        return [_Messages(first, self._messages[first : end["offset"]])]

    def read(self, partition: Any) -> Iterator[tuple[Any, ...]]:
        """Yield messages."""
        for offset, value in enumerate(partition.messages, start=partition.first):
            yield "values", 0, offset, None, None, value
