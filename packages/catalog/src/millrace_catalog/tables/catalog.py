"""The catalog of Kafka topics that hold JSON."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from millrace.contracts import Catalog, Format, SampledMessage, SerializationContext
from millrace.errors import MessageError, SchemaError
from millrace.sampling import Topics
from millrace_catalog.inference import InferredKey, KeyInference, Position
from millrace_catalog.inference.changelog_inference import CHANGELOG_READERS, infer_changes
from millrace_catalog.inference.result import InferredColumn, InferredTable
from millrace_catalog.inference.topic_inference import (
    SampledTable,
    infer_table,
    messages_by_table,
    table_of_fixed_types,
    to_inference_options,
)
from millrace_catalog.tables.options import CatalogConfig, parse_catalog_options
from millrace_catalog.tables.table import KafkaJsonTable
from millrace_catalog.tables.table_schema import build_table_schema
from millrace_catalog.types.arrow import from_arrow_schema
from millrace_catalog.types.identifiers import backquote, quote_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = logging.getLogger("millrace.catalog")

_ADVICE = "write some, or read it with a schema: .schema('id BIGINT, name STRING, ...')"


class KafkaJsonCatalog(Catalog):
    """The topics of a Kafka cluster as tables of one database, with inferred schemas.

        catalog = KafkaJsonCatalog.from_options({"properties.bootstrap.servers": "localhost:9092"})
        catalog.table("orders").read(spark).show()

    A table's columns are inferred from the newest messages of all partitions of its topic.

    Args:
        options: The parsed options.
        clock: Monotonic clock, in seconds.
    """

    Options = CatalogConfig

    def __init__(self, options: CatalogConfig, *, clock: Callable[[], float] = time.monotonic) -> None:
        if not isinstance(options, CatalogConfig):
            example = "{'properties.bootstrap.servers': 'localhost:9092'}"
            raise TypeError(f"expected parsed options; to give yours call KafkaJsonCatalog.from_options({example})")
        super().__init__(options)
        self._topics = Topics(self.options.client)
        self._clock = clock
        self._cache: dict[str, tuple[float, KafkaJsonTable]] = {}

    @classmethod
    def from_options(cls, raw: Mapping[str, str], *, clock: Callable[[], float] = time.monotonic) -> Self:
        """Make a catalog from the user's options.

        Args:
            raw: Options by name; those of json may be prefixed with ``json.``.
            clock: Monotonic clock, in seconds.

        Raises:
            OptionsError: Options are wrong; the message has every problem.
        """
        return cls(parse_catalog_options(raw), clock=clock)

    @property
    def database(self) -> str:
        """Name of the one database."""
        return self.options.database

    def list_tables(self) -> list[str]:
        """List the topics, except Kafka's internal ones, sorted.

        Raises:
            UnreachableError: No broker answered.
        """
        return self._topics.names()

    def table(self, name: str) -> KafkaJsonTable:
        """Return a topic as a table; its inferred columns are cached for ``infer-schema.cache-ttl``.

        Raises:
            UnknownTopicError: The topic does not exist.
            SchemaError: The topic is empty, or its messages have no columns that could be read.
            MessageError: A message is malformed.
            ClientError: The brokers refused or did not answer.
        """
        table = self._cached(name)
        if table is None:
            samples = self._topics.newest([name], self.options.sample)[name]
            table = self._infer_and_cache(name, samples)
        return table

    def tables_of(self, topic: str) -> dict[str, KafkaJsonTable]:
        """Return the tables within a topic by their ids, each with the columns of its own messages.

        The values of the fields of option ``json.decode.parser-table-id.fields`` are the id of a message's table.
        Without it, a topic is one table. Only tables of which there are messages in the sample are found.

        Raises:
            MessageError: A message is malformed, such as one that lacks a field of the id.
            UnknownTopicError, SchemaError, ClientError: As with `table`.
        """
        options = self.options
        if options.format != "json" or not options.json.table_fields:
            return {topic: self.table(topic)}
        samples = self._topics.newest([topic], options.sample)[topic]
        groups = messages_by_table(topic, samples, options.json)
        if not groups:
            raise SchemaError(f"topic {topic!r} has no messages to find tables in: {_ADVICE}")
        return {table: self._infer(topic, messages, table) for table, messages in groups.items()}

    def describe(self, name: str) -> str:
        """Describe the columns of a table, with the messages that their types were inferred from; raises as `table`."""
        return self.table(name).describe()

    def refresh(self, name: str | None = None) -> None:
        """Drop a table, or all, from the cache, so that its columns are inferred again when it is next used."""
        if name is None:
            self._cache.clear()
        else:
            self._cache.pop(name, None)

    def create_views(self, spark: SparkSession) -> list[str]:
        """Create a temporary view of each topic whose columns can be inferred, with the topic's name.

        A view keeps its columns and, as a batch read of Spark does, the rows that the topic had at the first query.
        Create the views again to see later messages. Topics without columns are left out with a warning. In SQL, write
        names with other characters than letters, digits and ``_`` between backticks.

        Returns:
            Names of the views, sorted.

        Raises:
            ClientError: The brokers refused or did not answer.
        """
        names = self.list_tables()
        uncached = [name for name in names if self._cached(name) is None]
        newest = self._topics.newest(uncached, self.options.sample, allow_missing=True)
        views = []
        for name in names:
            try:
                table = self._cached(name) or (self._infer_and_cache(name, newest[name]) if name in newest else None)
            except (SchemaError, MessageError) as error:
                logger.warning("skipping the view of topic %r: %s", name, error)
                continue
            if table is not None:
                table.read(spark).createOrReplaceTempView(backquote(name))
                views.append(name)
        return views

    def __repr__(self) -> str:
        servers = self.options.client["bootstrap.servers"]
        return f"KafkaJsonCatalog({servers!r}, database {quote_name(self.database)})"

    def _cached(self, name: str) -> KafkaJsonTable | None:
        at, table = self._cache.get(name, (0.0, None))
        is_fresh = table is not None and self._clock() - at < self.options.cache_ttl_ms / 1000
        return table if is_fresh else None

    def _infer_and_cache(self, name: str, samples: Sequence[SampledMessage]) -> KafkaJsonTable:
        table = self._infer(name, samples)
        self._cache[name] = (self._clock(), table)
        return table

    def _infer(self, topic: str, samples: Sequence[SampledMessage], table_id: str | None = None) -> KafkaJsonTable:
        options, json = self.options, self.options.json
        if options.registered is not None:
            value = _registered_table(topic, options.registered)
        elif samples and options.changelog is not None:
            reader = CHANGELOG_READERS[options.format].create(topic, options.changelog)
            value = infer_changes(topic, samples, reader, options)
        elif samples:
            value = infer_table(topic, samples, json, options)
        elif options.sample:
            raise SchemaError(f"topic {topic!r} has no messages to infer columns from: {_ADVICE}")
        else:
            value = table_of_fixed_types(topic, json)
        if value.table is None and not options.sample:
            raise SchemaError(
                "option 'scan.max.pre.fetch.records' is 0, so that no columns are inferred from messages: give them by "
                "option 'infer-schema.fixed-types'"
            )
        if value.table is None:
            raise SchemaError(
                f"topic {topic!r} has no columns to infer: the {value.messages} sampled messages have no value, or no "
                f"field in it: {_ADVICE}"
            )
        key = self._infer_key(topic, samples)
        is_upsert = options.upsert and self._topics.is_compacted(topic)
        schema = build_table_schema(
            topic, key, value.table, options, is_upsert=is_upsert, is_changelog=options.changelog is not None
        )
        return KafkaJsonTable(topic, self.options, schema, key, value, table_id)

    def _infer_key(self, topic: str, samples: Sequence[SampledMessage]) -> InferredKey:
        options = self.options
        inference = KeyInference(topic, to_inference_options(self.options.json), options)
        for sample in samples:
            inference.add(Position(sample.partition, sample.offset), sample.key)
        return inference.result()


def _registered_table(topic: str, value_format: Format) -> SampledTable:
    """Return the table of a topic whose format knows its columns.

    Raises:
        SchemaError: The format does not know the columns, or the registry has no schema for the topic.
        RegistryError: The registry could not be asked.
    """
    schema = value_format.default_schema_for(SerializationContext(topic))
    if schema is None:
        raise SchemaError(
            f"topic {topic!r}: the format does not know its columns; read it with a schema: "
            f".schema('id BIGINT, name STRING, ...')"
        )
    columns = tuple(
        InferredColumn(column.name, column.type, (), ((column.name,),)) for column in from_arrow_schema(schema)
    )
    return SampledTable(InferredTable(topic, columns), 0, ())
