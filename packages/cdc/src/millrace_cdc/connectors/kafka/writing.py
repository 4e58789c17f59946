"""Write the changes of a micro-batch to topics, in one job for all tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from millrace.contracts import ChangeBatch, PipelineDestination, PipelineTable
from millrace.errors import SchemaError
from millrace_cdc.connectors.kafka.encoder import RECORD_COLUMNS, EncoderSettings, RecordEncoder
from millrace_cdc.connectors.kafka.messages import MessageSettings
from millrace_cdc.connectors.kafka.sink_options import KafkaSinkOptions
from millrace_cdc.connectors.kafka.topics import SinkTopics


def write_changes(batch: ChangeBatch, options: KafkaSinkOptions, topics: SinkTopics) -> None:
    """Write the changes of a micro-batch; topics that are missing are created first.

    Raises:
        SchemaError: Its rows cannot be written as the options say.
        ClientError: A topic cannot be created.
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
        topics.prepare(batch.tables),
    )
    tables = dict(batch.tables)
    records = batch.map(lambda changes: RecordEncoder(settings, tables).encode(changes), RECORD_COLUMNS)
    records.write.format("millrace").options(**_write_options(options, topics)).mode("append").save()


def topics_of_tables(
    tables: Iterable[PipelineTable], options: KafkaSinkOptions, topics: SinkTopics
) -> Iterator[PipelineDestination]:
    """Yield the topics of tables, and whether they exist.

    Raises:
        ClientError: Kafka could not be reached.
    """
    by_id = {table.id: table for table in tables}
    for table_topic in topics.look_up(by_id):
        needs_key = options.partition_strategy == "hash-by-key" and not by_id[table_topic.table].primary_key
        problem = _missing_keys([table_topic.table]) if needs_key else table_topic.problem
        yield PipelineDestination(table_topic.table, "topic", table_topic.topic, table_topic.exists, problem)


def _write_options(options: KafkaSinkOptions, topics: SinkTopics) -> dict[str, str]:
    prefix = options.transactional_id_prefix
    return {
        **topics.writing_options(),
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
