"""Write the changes of a micro-batch to topics, in one job for all tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from millrace.contracts import ChangeBatch, PipelineDestination, PipelineTable
from millrace.errors import SchemaError
from millrace.options.parser import OptionParser
from millrace.sampling import Topics, take_client_properties
from millrace_cdc.connectors.kafka.encoder import RECORD_COLUMNS, EncoderSettings, RecordEncoder
from millrace_cdc.connectors.kafka.messages import MessageSettings
from millrace_cdc.connectors.kafka.sink_options import KafkaSinkOptions
from millrace_cdc.routing.patterns import RoutePattern
from millrace_cdc.runtime.projection import table_id


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
        return next((topic for pattern, topic in self._mapping if pattern.match(id_)), table)


def write_changes(batch: ChangeBatch, options: KafkaSinkOptions, topics: TopicChooser) -> None:
    """Write the changes of a micro-batch.

    Raises:
        SchemaError: Its rows cannot be written as the options say.
    """
    if options.partition_strategy == "hash-by-key":
        _check_keys(batch)
    settings = EncoderSettings(
        MessageSettings(
            options.value_format,
            options.key_format or "json",
            options.debezium_include_schema,
            options.debezium_full_table_id,
        ),
        options.partition_strategy == "all-to-zero",
        {table: topics.topic_of(table) for table in batch.tables},
    )
    tables = dict(batch.tables)
    records = batch.map(lambda changes: RecordEncoder(settings, tables).encode(changes), RECORD_COLUMNS)
    records.write.format("millrace").options(**_write_options(options)).mode("append").save()


def topics_of_tables(tables: Iterable[PipelineTable], options: KafkaSinkOptions) -> Iterator[PipelineDestination]:
    """Yield the topics of tables, and whether they exist.

    Raises:
        ClientError: Kafka could not be reached.
    """
    chooser = TopicChooser(options)
    parser = OptionParser("sink", _client_options(options))
    client = take_client_properties(parser)
    parser.finish()
    existing = set(Topics(client).names())
    for table in tables:
        topic = chooser.topic_of(table.id)
        needs_key = options.partition_strategy == "hash-by-key" and not table.primary_key
        yield PipelineDestination(
            table.id, "topic", topic, topic in existing, _missing_keys([table.id]) if needs_key else None
        )


def _client_options(options: KafkaSinkOptions) -> dict[str, str]:
    return {
        "properties.bootstrap.servers": options.bootstrap_servers,
        **{f"properties.{name.removeprefix('properties.')}": value for name, value in options.properties},
    }


def _write_options(options: KafkaSinkOptions) -> dict[str, str]:
    prefix = options.transactional_id_prefix
    return {
        **_client_options(options),
        "sink.delivery-guarantee": options.delivery_guarantee,
        **({} if prefix is None else {"sink.transactional-id-prefix": prefix}),
    }


def _check_keys(batch: ChangeBatch) -> None:
    without = [name for name, table in batch.tables.items() if not table.primary_key]
    if without:
        raise SchemaError(_missing_keys(without))


def _missing_keys(tables: Iterable[str]) -> str:
    return (
        f"'partition.strategy: hash-by-key' needs a primary key, and {_names(tables)} none: give it by 'primary-keys' "
        f"of a transform"
    )


def _names(tables: Iterable[str]) -> str:
    names = ", ".join(map(repr, tables))
    return f"table {names} has" if "," not in names else f"tables {names} have"
