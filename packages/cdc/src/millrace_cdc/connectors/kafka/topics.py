"""The topics of the tables of Kafka as a sink: chosen by options, looked up, and created."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from millrace.errors import SchemaError
from millrace.options.parser import OptionParser
from millrace.options.secrets import Properties
from millrace.options.values import is_topic_name
from millrace.sampling import Topics, take_client_properties
from millrace_cdc.connectors.kafka.sink_options import KafkaSinkOptions
from millrace_cdc.routing.patterns import RoutePattern
from millrace_cdc.table_id import table_id


class TableTopic(NamedTuple):
    """The topic of a table.

    Attributes:
        table: The id of the table.
        topic: The name of the topic.
        exists: Whether it is there already.
        problem: Why changes cannot be written to it, and what to do; None where they can, or will when it is created.
    """

    table: str
    topic: str
    exists: bool
    problem: str | None


class TopicChooser:
    """Choose the topic of a table.

    Args:
        options: The sink's options.
    """

    def __init__(self, options: KafkaSinkOptions) -> None:
        self._topic = options.topic
        self._mapping = [(RoutePattern(pattern), topic) for pattern, topic in options.topic_mapping]

    def topic_of(self, table: str) -> str:
        """Return the topic of a table: the first that its id is mapped to, or else that of its own name."""
        if self._topic is not None:
            return self._topic
        id_ = table_id(table)
        return next((topic for pattern, topic in self._mapping if pattern.match(id_)), id_.plain)


class SinkTopics:
    """The topics of a sink's tables; runs and plans decide by `look_up` which of them are created.

    Args:
        options: The sink's options.
    """

    def __init__(self, options: KafkaSinkOptions) -> None:
        self._options = options
        self._chooser = TopicChooser(options)
        self._ready: set[str] = set()
        self._batch_size: str | None = None

    def of(self, tables: Iterable[str]) -> dict[str, str]:
        """Return the topics of tables, by id of the table."""
        return {table: self._chooser.topic_of(table) for table in tables}

    def look_up(self, tables: Iterable[str]) -> list[TableTopic]:
        """Look up the topics of tables.

        Raises:
            ClientError: Kafka could not be reached.
        """
        existing = set(Topics(client_properties(self._options)).names())
        topics = self.of(tables)
        return [
            TableTopic(table, topic, topic in existing, self._problem(table, topic, exists=topic in existing))
            for table, topic in topics.items()
        ]

    def prepare(self, tables: Iterable[str]) -> dict[str, str]:
        """Return the topics of tables as `of` does, and create those that are missing.

        Topics are looked up once in the life of this object.

        Raises:
            SchemaError: A topic cannot be created, or must not.
            ClientError: Kafka could not be reached, or refused.
        """
        topics = self.of(tables)
        unknown = [table for table, topic in topics.items() if topic not in self._ready]
        if unknown:
            table_topics = self.look_up(unknown)
            problems = [table_topic.problem for table_topic in table_topics if table_topic.problem is not None]
            if problems:
                raise SchemaError(problems[0])
            self._create([table_topic.topic for table_topic in table_topics if not table_topic.exists])
            self._ready |= {table_topic.topic for table_topic in table_topics}
            self._batch_size = Topics(client_properties(self._options)).fitting_batch_size(sorted(self._ready))
        return topics

    def writing_options(self) -> dict[str, str]:
        """Return the options of the client, for the data source, with batches that all topics take so far."""
        fitting = {} if self._batch_size is None else {"properties.batch.size": self._batch_size}
        return {**client_options(self._options), **fitting}

    def _create(self, missing: Iterable[str]) -> None:
        names, options = list(dict.fromkeys(missing)), self._options
        if names:
            Topics(client_properties(options)).create_missing(
                names, options.created_partitions, options.created_replication_factor, dict(options.created_config)
            )

    def _problem(self, table: str, topic: str, *, exists: bool) -> str | None:
        if exists:
            return None
        if not is_topic_name(topic):
            return (
                f"table {table!r} would go to topic {topic!r}, and Kafka allows up to 249 letters, digits, '.', '_' "
                f"and '-' in the name of a topic: give it another one by 'sink.tableId-to-topic.mapping' or a route"
            )
        if not self._options.creates_topics:
            return (
                f"table {table!r} goes to topic {topic!r}, which does not exist: create it, or set 'sink.topic.create' "
                f"to true"
            )
        return None


def client_options(options: KafkaSinkOptions) -> dict[str, str]:
    """Return the options of the client, for the data source."""
    return {
        "properties.bootstrap.servers": options.bootstrap_servers,
        **{f"properties.{name.removeprefix('properties.')}": value for name, value in options.properties},
    }


def client_properties(options: KafkaSinkOptions) -> Properties:
    """Return the properties of the client.

    Raises:
        OptionsError: One of them is wrong.
    """
    parser = OptionParser("sink", client_options(options))
    client = take_client_properties(parser)
    parser.finish()
    return client
