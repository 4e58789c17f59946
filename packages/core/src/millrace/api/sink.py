"""A Kafka sink, built step by step."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from millrace.api.builder import Builder
from millrace.api.prefix_registry import check_is_free, take
from millrace.api.record_serializer import KafkaRecordSerializationSchema
from millrace.configuration.build import configure_sink
from millrace.options.metadata import parse_metadata_columns
from millrace.options.secrets import Properties
from millrace.options.values import parse_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery

_EXAMPLE = "KafkaRecordSerializationSchema.builder().set_topic('orders').build()"


class DeliveryGuarantee(StrEnum):
    """What becomes of rows when something fails.

    NONE: they may be lost or repeated. AT_LEAST_ONCE: they may be repeated. EXACTLY_ONCE: neither, for consumers that
    read only committed records.
    """

    NONE = "none"
    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


@dataclass(frozen=True)
class KafkaSink:
    """Kafka topics to write to, made by `KafkaSink.builder`.

    Attributes:
        options: The options of the data source that it stands for; their text shows no secret.
        parallelism: How many tasks write; None for as many as the rows have partitions.
    """

    options: Properties
    parallelism: int | None = None

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """A builder without any option."""
        return KafkaSinkBuilder()

    def write(self, rows: DataFrame) -> None:
        """Append the rows of a batch, and return when they are written.

        Raises:
            OptionsError: A running query of this program has the same transactional id prefix.
        """
        check_is_free(self.options)
        self._divided(rows).write.format("millrace").options(**self.options).mode("append").save()

    def start(
        self,
        rows: DataFrame,
        *,
        checkpoint_location: str | os.PathLike[str],
        trigger: Mapping[str, Any] | None = None,
        query_name: str | None = None,
    ) -> StreamingQuery:
        """Start a query that appends the rows of a stream.

        Args:
            rows: The stream, of a classic or a Connect session.
            checkpoint_location: Where Spark keeps how far the query is.
            trigger: Arguments of `DataStreamWriter.trigger`, such as ``{"availableNow": True}``; by default micro-batch
                follows micro-batch.
            query_name: The query's name.

        Raises:
            OptionsError: A running query of this program has the same transactional id prefix.
        """
        check_is_free(self.options)
        writer = self._divided(rows).writeStream.format("millrace").options(**self.options)
        writer = writer.option("checkpointLocation", os.fspath(checkpoint_location))
        if trigger is not None:
            writer = writer.trigger(**trigger)
        if query_name is not None:
            writer = writer.queryName(query_name)
        query = writer.start()
        take(self.options, query)
        return query

    def _divided(self, rows: DataFrame) -> DataFrame:
        if self.parallelism is None:
            return rows
        keys = [column for column in self._key_columns() if column in rows.columns]
        # Records with the same key keep their order: one task writes them
        return rows.repartition(self.parallelism, *keys)

    def _key_columns(self) -> list[str]:
        if "key.fields" in self.options:
            return list(parse_columns(self.options["key.fields"]))
        named = parse_metadata_columns(self.options.get("metadata.columns", "topic"))
        carried = next((each.column for each in named if each.key == "__raw_key__"), None)
        has_format = "format" in self.options or "value.format" in self.options
        return [carried] if carried else [] if has_format else ["key"]


class KafkaSinkBuilder(Builder):
    """Builds a `KafkaSink`; each thing is set once."""

    def __init__(self) -> None:
        super().__init__()
        self._has_serializer = False
        self._parallelism: int | None = None

    def set_kafka_producer_config(self, properties: Mapping[str, object]) -> Self:
        """Set properties of the Kafka client: the options ``properties.<name>``."""
        return self._set_properties("set_kafka_producer_config", properties)

    def set_record_serializer(self, schema: KafkaRecordSerializationSchema) -> Self:
        """Say what rows become, and where they go."""
        self._has_serializer = True
        if not isinstance(schema, KafkaRecordSerializationSchema):
            self._settings.report(f"set_record_serializer: expected what {_EXAMPLE} returns; got {schema!r}")
            return self
        return self._set("set_record_serializer", schema.options)

    def set_delivery_guarantee(self, guarantee: DeliveryGuarantee) -> Self:
        """Say what becomes of rows when something fails; AT_LEAST_ONCE by default."""
        return self._set("set_delivery_guarantee", {"sink.delivery-guarantee": guarantee})

    def set_transactional_id_prefix(self, prefix: str) -> Self:
        """Say what transactional ids begin with: one of its own for each query that writes EXACTLY_ONCE."""
        return self._set("set_transactional_id_prefix", {"sink.transactional-id-prefix": prefix})

    def set_parallelism(self, tasks: int) -> Self:
        """Say how many tasks write, among which rows are divided by their key, if they have one."""
        if not isinstance(tasks, int) or tasks < 1:
            self._settings.report(f"set_parallelism: expected a whole number above 0; got {tasks!r}")
        elif self._parallelism not in (None, tasks):
            self._settings.report(f"set_parallelism: it is {self._parallelism} and {tasks}; call it once")
        self._parallelism = tasks
        return self

    def build(self) -> KafkaSink:
        """The sink.

        Raises:
            OptionsError: Something is missing, wrong or contradictory; every problem is in the one message.
        """
        return KafkaSink(self._finished("KafkaSink", self._missing(), {}, configure_sink), self._parallelism)

    def _missing(self) -> Iterator[str]:
        if not self._has_serializer and not self._settings.has("topic", "topic-pattern", "metadata.columns"):
            yield f"there is nowhere to write: call set_record_serializer({_EXAMPLE})"
