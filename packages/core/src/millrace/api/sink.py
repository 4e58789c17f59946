"""The Kafka sink and its builder, with the names of PyFlink's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from millrace.api.builder import Builder
from millrace.api.key_order import repartition_by_key
from millrace.api.record_serializer import KafkaRecordSerializationSchema
from millrace.configuration.build import configure_sink
from millrace.display import html_options
from millrace.errors import OptionsError
from millrace.options.metadata import parse_metadata_columns
from millrace.options.secrets import Properties
from millrace.options.values import parse_columns
from millrace.pyspark_internals import set_active_session
from millrace.spark.options import check_progress_is_tracked, without_async_progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery

    from millrace.configuration import SinkConfig

_PREFIX = "sink.transactional-id-prefix"

_prefix_users: dict[tuple[str, str], StreamingQuery] = {}
"""The queries of this program by their bootstrap servers and transactional id prefix."""

_EXAMPLE = "KafkaRecordSerializationSchema.builder().set_topic('orders').build()"


class DeliveryGuarantee(StrEnum):
    """The guarantee for rows when something fails.

    NONE: they may be lost or repeated. AT_LEAST_ONCE: they may be repeated. EXACTLY_ONCE: neither, for consumers that
    read only committed records.
    """

    NONE = "none"
    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


@dataclass(frozen=True)
class KafkaSink:
    """Kafka topics to write to, built by `KafkaSink.builder`.

    Rows for an upsert table, with the connector ``upsert-kafka``, are repartitioned by `millrace.repartition_by_key`.

    Attributes:
        options: The options of the data source; their text shows no secret.
        parallelism: The number of tasks that write; None for as many as the rows have partitions.
        transform: Applies the user's functions to the rows before they are written; None if there are none.
    """

    options: Properties
    parallelism: int | None = None
    transform: Callable[[DataFrame], DataFrame] | None = field(default=None, repr=False)

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """Create an empty builder."""
        return KafkaSinkBuilder()

    def write(self, rows: DataFrame) -> None:
        """Append the rows of a batch, and return when they are written.

        Raises:
            OptionsError: A running query of this program has the same transactional id prefix.
        """
        _check_prefix_is_free(self.options)
        set_active_session(rows.sparkSession)
        self._prepare(rows).write.format("millrace").options(**self.options).mode("append").save()

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
            checkpoint_location: The folder of Spark's checkpoint.
            trigger: Arguments of `DataStreamWriter.trigger`, such as ``{"availableNow": True}``; by default micro-batch
                follows micro-batch.
            query_name: The query's name.

        Raises:
            OptionsError: A running query of this program has the same transactional id prefix.
        """
        _check_prefix_is_free(self.options)
        set_active_session(rows.sparkSession)
        writer = self._prepare(rows).writeStream.format("millrace").options(**self.options)
        writer = writer.option("checkpointLocation", os.fspath(checkpoint_location))
        if trigger is not None:
            writer = writer.trigger(**trigger)
        if query_name is not None:
            writer = writer.queryName(query_name)
        query = writer.start()
        _register_prefix(self.options, query)
        return query

    def _repr_html_(self) -> str:
        """Return the options for a notebook, without secrets."""
        return html_options(self.options, "KafkaSink")

    def _prepare(self, rows: DataFrame) -> DataFrame:
        if self.transform is not None:
            rows = self.transform(rows)
        options = _configure(self.options).options
        if options.is_upsert:
            return repartition_by_key(rows, options.key_fields, tasks=self.parallelism)
        if self.parallelism is None:
            return rows
        keys = [column for column in self._key_columns() if column in rows.columns]
        # Records with the same key keep their order: one task writes them
        return rows.repartition(self.parallelism, *keys)

    def _key_columns(self) -> list[str]:
        if "key.fields" in self.options:
            return list(parse_columns(self.options["key.fields"]))
        metadata = parse_metadata_columns(self.options.get("metadata.columns", "topic"))
        raw_key = next((column.column for column in metadata if column.key == "__raw_key__"), None)
        has_format = "format" in self.options or "value.format" in self.options
        return [raw_key] if raw_key else [] if has_format else ["key"]


class KafkaSinkBuilder(Builder):
    """Build a `KafkaSink`; each method is called once at most."""

    def __init__(self) -> None:
        super().__init__()
        self._has_serializer = False
        self._parallelism: int | None = None
        self._transform: Callable[[DataFrame], DataFrame] | None = None

    def set_kafka_producer_config(self, properties: Mapping[str, object]) -> Self:
        """Set properties of the Kafka client: the options ``properties.<name>``."""
        return self._set_properties("set_kafka_producer_config", properties)

    def set_record_serializer(self, record_serializer: KafkaRecordSerializationSchema) -> Self:
        """Set how rows become records, and their topics."""
        self._has_serializer = True
        if not isinstance(record_serializer, KafkaRecordSerializationSchema):
            self._options.report(f"set_record_serializer: expected what {_EXAMPLE} returns; got {record_serializer!r}")
            return self
        self._transform = record_serializer.transform
        return self._set("set_record_serializer", record_serializer.options)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Set the guarantee for rows when something fails; AT_LEAST_ONCE by default."""
        return self._set("set_delivery_guarantee", {"sink.delivery-guarantee": delivery_guarantee})

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> Self:
        """Set the prefix of transactional ids: a different one for each query that writes EXACTLY_ONCE."""
        return self._set("set_transactional_id_prefix", {_PREFIX: transactional_id_prefix})

    def set_parallelism(self, tasks: int) -> Self:
        """Set the number of tasks that write; rows are divided among them by their key, if they have one."""
        if not isinstance(tasks, int) or tasks < 1:
            self._options.report(f"set_parallelism: expected a whole number above 0; got {tasks!r}")
        elif self._parallelism not in (None, tasks):
            self._options.report(f"set_parallelism: it is {self._parallelism} and {tasks}; call it once")
        self._parallelism = tasks
        return self

    def build(self) -> KafkaSink:
        """Build the sink.

        Raises:
            OptionsError: Something is missing, wrong or contradictory; the message lists all problems.
        """
        options = self._checked_options("KafkaSink", self._missing(), {}, _configure)
        return KafkaSink(options, self._parallelism, self._transform)

    def _missing(self) -> Iterator[str]:
        if not self._has_serializer and not self._options.has("topic", "topic-pattern", "metadata.columns"):
            yield f"there is nowhere to write: call set_record_serializer({_EXAMPLE})"


def _configure(options: Mapping[str, str]) -> SinkConfig:
    """Parse the options, which may include those of Spark's asynchronous progress tracking."""
    config = configure_sink(without_async_progress(options))
    check_progress_is_tracked(options, is_exactly_once=config.options.is_exactly_once)
    return config


def _check_prefix_is_free(options: Mapping[str, str]) -> None:
    """Refuse a prefix that a running query of this program uses.

    Queries with one prefix take the transactional ids from each other. Those of other programs are found only when
    that happens.

    Raises:
        OptionsError: A query uses the prefix.
    """
    query = _prefix_users.get(_prefix_key(options)) if _PREFIX in options else None
    if query is not None and query.isActive:
        problem = (
            f"option {_PREFIX!r}: query {query.id} of this program writes with {options[_PREFIX]!r} already; give each "
            "query a prefix of its own"
        )
        raise OptionsError("sink", (problem,))


def _register_prefix(options: Mapping[str, str], query: StreamingQuery) -> None:
    if _PREFIX in options:
        _prefix_users[_prefix_key(options)] = query


def _prefix_key(options: Mapping[str, str]) -> tuple[str, str]:
    return options.get("properties.bootstrap.servers", ""), options[_PREFIX]
