"""The Kafka source and its builder, with the names of PyFlink's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from millrace.api.builder import Builder, plugin_options
from millrace.api.offsets import KafkaOffsetsInitializer, topic_partitions_text
from millrace.api.string_schema import SIMPLE_STRING_COLUMNS, SimpleStringSchema
from millrace.configuration.build import configure_source
from millrace.contracts import StandardOffsets
from millrace.display import html_options
from millrace.options.secrets import Properties
from millrace.plugins.kinds import FORMAT
from millrace.streams import stream_reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_SELECTIONS = ("topic", "topic-pattern", "topic-partitions", "subscribe", "subscribePattern", "assign")
_STARTS = ("scan.startup.mode", "startingOffsets", "startingOffsetsByTimestamp", "startingTimestamp")
_DISCOVERY = "scan.topic-partition-discovery.interval"
_DISCOVERIES = (_DISCOVERY, "partition.discovery.interval.ms", "properties.partition.discovery.interval.ms")
_GROUPS = ("properties.group.id", "kafka.group.id", "groupIdPrefix", "table-name")


@dataclass(frozen=True)
class KafkaSource:
    """Kafka topics to read, built by `KafkaSource.builder`.

    Attributes:
        options: The options of the data source; their text shows no secret.
        is_bounded: True for a batch, false for a stream.
    """

    options: Properties
    is_bounded: bool = False

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Create a builder without any option."""
        return KafkaSourceBuilder()

    def load(
        self, spark: SparkSession, schema: StructType | str | None = None, source_name: str | None = None
    ) -> DataFrame:
        """Load the rows: of a batch after ``set_bounded``, of a stream otherwise.

        Args:
            spark: The session, classic or Connect.
            schema: The columns, for a format that needs them; without a format, a selection of the columns of Spark's
                own Kafka connector. It takes the place of the column of a `SimpleStringSchema`.
            source_name: Tells a stream from others of its query where the session asks sources for names
                (``spark.sql.streaming.queryEvolution.enableSourceEvolution``), and has to be the same after a restart;
                by default the name of its topics. A query that reads a topic twice gives two names.
        """
        options = dict(self.options)
        if schema is not None and options.get("columns") == SIMPLE_STRING_COLUMNS:
            del options["columns"]
        name = source_name or next(options[selection] for selection in _SELECTIONS if selection in options)
        reader = spark.read if self.is_bounded else stream_reader(spark, name)
        reader = reader.format("millrace").options(**options)
        return (reader if schema is None else reader.schema(schema)).load()

    def _repr_html_(self) -> str:
        """Return the options for a notebook, without secrets."""
        return html_options(self.options, "KafkaSource of a batch" if self.is_bounded else "KafkaSource of a stream")


class KafkaSourceBuilder(Builder):
    """Build a `KafkaSource`; each method is called once at most."""

    def __init__(self) -> None:
        super().__init__()
        self._stop_method: str | None = None

    def set_topics(self, *topics: str | Iterable[str]) -> Self:
        """Read all partitions of these topics.

        Args:
            *topics: Their names, or one list of them.
        """
        names = [name for argument in topics for name in ([argument] if isinstance(argument, str) else argument)]
        return self._set("set_topics", {"topic": ";".join(names)})

    def set_topic_pattern(self, topic_pattern: str) -> Self:
        """Read the topics whose whole names match.

        Args:
            topic_pattern: A regular expression, as in Java.
        """
        return self._set("set_topic_pattern", {"topic-pattern": topic_pattern})

    def set_partitions(self, partitions: Iterable[tuple[str, int]]) -> Self:
        """Read single partitions.

        Args:
            partitions: Each a `KafkaTopicPartition`, or its topic and number.
        """
        try:
            return self._set("set_partitions", {"topic-partitions": topic_partitions_text(partitions)})
        except ValueError as error:
            self._options.report(f"set_partitions: {error}")
            return self

    def set_group_id(self, group_id: str) -> Self:
        """Set the consumer group, to which a stream commits its offsets for monitoring."""
        return self._set("set_group_id", {"properties.group.id": group_id})

    def set_client_id_prefix(self, prefix: str) -> Self:
        """Set the prefix of the Kafka clients' ids."""
        return self._set("set_client_id_prefix", {"client.id.prefix": prefix})

    def set_starting_offsets(self, starting_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Set the offsets at which a query without a checkpoint starts; the earliest by default."""
        if not isinstance(starting_offsets_initializer, KafkaOffsetsInitializer):
            return self._refuse_offsets("set_starting_offsets", starting_offsets_initializer)
        return self._set("set_starting_offsets", starting_offsets_initializer.starting_options())

    def set_bounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Make the source a batch that stops at these offsets."""
        return self._set_stop("set_bounded", stopping_offsets_initializer)

    def set_unbounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Let the stream stop at these offsets; `millrace.await_end` waits for that and stops its query."""
        return self._set_stop("set_unbounded", stopping_offsets_initializer)

    def set_deserializer(self, deserialization_schema: str | SimpleStringSchema, /, **options: object) -> Self:
        """Decode the values of messages; without it rows have the columns of Spark's own Kafka connector.

        Args:
            deserialization_schema: The name of a format, such as ``json``, or a `SimpleStringSchema`.
            **options: The format's options with ``_`` in place of ``-`` and ``.``, as ``ignore_parse_errors=True``.
        """
        return self._set_format("set_deserializer", deserialization_schema, options)

    def set_value_only_deserializer(
        self, deserialization_schema: str | SimpleStringSchema, options: Mapping[str, object] | None = None
    ) -> Self:
        """Decode the values of messages, as `set_deserializer` does; other parts come by the option metadata.columns.

        Args:
            deserialization_schema: The name of a format, such as ``json``, or a `SimpleStringSchema`.
            options: The format's options by name, such as ``{"ignore-parse-errors": True}``.
        """
        return self._set_format("set_value_only_deserializer", deserialization_schema, options or {})

    def set_properties(self, props: Mapping[str, object]) -> Self:
        """Set properties of the Kafka client: the options ``properties.<name>``."""
        return self._set_properties("set_properties", props)

    def build(self) -> KafkaSource:
        """Build the source.

        Raises:
            OptionsError: Something is missing, wrong or contradictory; the message lists all problems.
        """
        options = self._checked_options("KafkaSource", self._missing(), self._defaults(), configure_source)
        return KafkaSource(options, is_bounded=self._is_bounded)

    @property
    def _is_bounded(self) -> bool:
        return self._stop_method == "set_bounded"

    def _defaults(self) -> dict[str, str]:
        defaults = {} if self._options.has(*_STARTS) else {"scan.startup.mode": str(StandardOffsets.EARLIEST)}
        if not self._is_bounded and not self._options.has(*_DISCOVERIES):
            # As PyFlink's source, which looks for new partitions only when it is told to
            defaults[_DISCOVERY] = "0"
        return defaults

    def _missing(self) -> Iterator[str]:
        if not self._options.has(*_SELECTIONS):
            yield "there is nothing to read: call set_topics, set_topic_pattern or set_partitions"
        modes = [self._options.value(f"scan.{side}.mode") for side in ("startup", "bounded")]
        if StandardOffsets.GROUP in modes and not self._options.has(*_GROUPS):
            yield "there is no group whose committed offsets could be used: call set_group_id"

    def _set_stop(self, method: str, offsets: KafkaOffsetsInitializer) -> Self:
        if self._stop_method not in (None, method):
            self._options.report(
                "set_bounded and set_unbounded exclude each other: the first makes a batch, the second a stream that "
                "stops"
            )
            return self
        self._stop_method = method
        if not isinstance(offsets, KafkaOffsetsInitializer):
            return self._refuse_offsets(method, offsets)
        try:
            return self._set(method, offsets.stopping_options())
        except ValueError as error:
            self._options.report(f"{method}: {error}")
            return self

    def _refuse_offsets(self, method: str, value: object) -> Self:
        self._options.report(
            f"{method}: expected a KafkaOffsetsInitializer, such as KafkaOffsetsInitializer.latest(); got {value!r}"
        )
        return self

    def _set_format(self, method: str, schema: str | SimpleStringSchema, options: Mapping[str, object]) -> Self:
        if isinstance(schema, SimpleStringSchema):
            self._set(method, {"columns": SIMPLE_STRING_COLUMNS})
            options, schema = {**schema.options, **options}, schema.FORMAT
        return self._set(method, plugin_options(FORMAT, "format", schema, f"{schema}.", options))
