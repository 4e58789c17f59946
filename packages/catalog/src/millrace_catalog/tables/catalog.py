"""Kafka topics that hold JSON, as tables whose columns are inferred."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from millrace.contracts import Catalog, SampledMessage
from millrace.errors import MessageError, SchemaError
from millrace.sampling import Topics
from millrace_catalog.inference import InferredKey, KeyInference, Position
from millrace_catalog.inference.sampled import all_options, infer_table
from millrace_catalog.tables.options import CatalogOptions, configure
from millrace_catalog.tables.table import KafkaJsonTable
from millrace_catalog.tables.table_schema import shape
from millrace_catalog.types.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = logging.getLogger("millrace.catalog")

GIVE_COLUMNS = "write some, or read it with a schema: .schema('id BIGINT, name STRING, ...')"


class KafkaJsonCatalog(Catalog):
    """The topics of a Kafka cluster as tables of one database; no schema is given by hand.

        catalog = KafkaJsonCatalog({"properties.bootstrap.servers": "localhost:9092"})
        catalog.table("orders").read(spark).show()

    A table's columns are inferred from the newest messages of all partitions of its topic.

    Args:
        options: Options by name; json's may stand behind ``json.``.
        clock: Seconds that never go back.

    Raises:
        OptionsError: Something is wrong with them; every problem is in the one message.
    """

    Options = CatalogOptions

    def __init__(self, options: Mapping[str, str], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._configured = configure(options)
        self._topics = Topics(self._configured.client)
        self._clock = clock
        self._known: dict[str, tuple[float, KafkaJsonTable]] = {}

    @property
    def database(self) -> str:
        """The name of the one database."""
        return self._configured.options.database

    def list_tables(self) -> list[str]:
        """The names of all topics but Kafka's own, sorted.

        Raises:
            UnreachableError: No broker answered.
        """
        return self._topics.names()

    def table(self, name: str) -> KafkaJsonTable:
        """A topic as a table; what was inferred is kept for ``infer-schema.cache-ttl``.

        Raises:
            UnknownTopicError: There is no such topic.
            SchemaError: It is empty, its messages tell no columns, or none that could be read.
            MessageError: A message is malformed.
            ClientError: The brokers refused, or did not answer.
        """
        known = self._fresh(name)
        if known is None:
            samples = self._topics.newest([name], self._configured.options.sample)[name]
            known = self._keep(name, samples)
        return known

    def describe(self, name: str) -> str:
        """The columns of a table, and which messages made their types what they are; raises as `table`."""
        return self.table(name).describe()

    def refresh(self, name: str | None = None) -> None:
        """Forget what was inferred of a table, or of all, so that the next look infers it anew."""
        if name is None:
            self._known.clear()
        else:
            self._known.pop(name, None)

    def create_views(self, spark: SparkSession) -> list[str]:
        """Make a temporary view, named as its topic, of each table whose columns can be inferred.

        A view has the columns of now, and goes on showing what its topic holds when it is first asked, as each batch
        read of Spark does; views that are made again show what is there then. Topics without a schema are left out,
        with a warning that says why. Names that are not of letters, digits and ``_`` stand between backticks in SQL.

        Returns:
            The names of the views, sorted.

        Raises:
            ClientError: The brokers refused, or did not answer.
        """
        names = self.list_tables()
        unknown = [name for name in names if self._fresh(name) is None]
        newest = self._topics.newest(unknown, self._configured.options.sample, allow_missing=True)
        made = []
        for name in names:
            try:
                table = self._fresh(name) or (self._keep(name, newest[name]) if name in newest else None)
            except (SchemaError, MessageError) as error:
                logger.warning("no view of topic %r: %s", name, error)
                continue
            if table is not None:
                table.read(spark).createOrReplaceTempView("`" + name + "`")
                made.append(name)
        return made

    def __repr__(self) -> str:
        return f"KafkaJsonCatalog({self._configured.client['bootstrap.servers']!r}, database {quoted(self.database)})"

    def _fresh(self, name: str) -> KafkaJsonTable | None:
        at, table = self._known.get(name, (0.0, None))
        is_fresh = table is not None and self._clock() - at < self._configured.options.cache_ttl_ms / 1000
        return table if is_fresh else None

    def _keep(self, name: str, samples: Sequence[SampledMessage]) -> KafkaJsonTable:
        table = self._infer(name, samples)
        self._known[name] = (self._clock(), table)
        return table

    def _infer(self, topic: str, samples: Sequence[SampledMessage]) -> KafkaJsonTable:
        if not samples:
            raise SchemaError(f"topic {topic!r} is empty, and columns are inferred from messages: {GIVE_COLUMNS}")
        options, json = self._configured.options, self._configured.json
        value = infer_table(topic, samples, json, options)
        if value.table is None:
            raise SchemaError(
                f"topic {topic!r} tells no columns: the {value.messages} messages that were looked at have no value, "
                f"or no field in it: {GIVE_COLUMNS}"
            )
        key = self._infer_key(topic, samples)
        is_upsert = options.upsert and self._topics.is_compacted(topic)
        made = shape(topic, key, value.table, options, is_upsert=is_upsert)
        return KafkaJsonTable(topic, self._configured, made, key, value)

    def _infer_key(self, topic: str, samples: Sequence[SampledMessage]) -> InferredKey:
        options = self._configured.options
        inference = KeyInference(topic, all_options(self._configured.json), options)
        for each in samples:
            inference.add(Position(each.partition, each.offset), each.key)
        return inference.result()
