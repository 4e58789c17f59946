"""Read the messages of topics as a pipeline's options say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from millrace.contracts import Format, SampledMessage
from millrace.options.java_pattern import java_pattern
from millrace.options.parser import OptionParser
from millrace.options.secrets import Properties
from millrace.sampling import Topics, take_client_properties
from millrace.streams import stream_reader
from millrace_catalog.inference import (
    CanalInferenceOptions,
    FormatOptions,
)
from millrace_cdc.connectors.kafka.registry_format import registry_format
from millrace_cdc.connectors.kafka.source_options import KafkaSourceOptions
from millrace_cdc.runtime.extra_columns import SOURCE_COLUMNS, ExtraColumns
from millrace_cdc.runtime.flattened_records import JsonRowOptions
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.registry_changes import FORMAT_NAME, DebeziumChangeOptions, RegistryChangeOptions
from millrace_cdc.runtime.schema_headers import SchemaHeaders

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MICRO_BATCH_RECORDS = 1_000_000
"""The most messages of a micro-batch, no more than the data source gives to one task.

A partition whose messages were divided among tasks would lose its order, and the changes of a micro-batch are kept.
"""


def parser_settings(options: KafkaSourceOptions) -> ParserSettings:
    """Return the settings of the parser of messages."""
    return ParserSettings(
        options.value_format,
        _format_options(options),
        options.inference_strategy,
        skips_malformed=options.ignore_errors,
        counts_runs=options.max_consecutive_errors is not None,
        has_distributed_tables={
            "debezium-json": options.debezium_distributed,
            "canal-json": options.canal_distributed,
            "maxwell-json": options.maxwell_distributed,
            "ogg-json": options.ogg_distributed,
            "json": True,
            FORMAT_NAME: options.avro_distributed,
        }[options.value_format],
        has_primary_keys=options.primary_keys_from is not None,
        schema_headers=_schema_headers(options),
        extra=ExtraColumns(options.key_format is not None, options.key_prefix, options.value_prefix, options.metadata),
    )


def read_messages(spark: SparkSession, options: KafkaSourceOptions, *, has_headers: bool = False) -> DataFrame:
    """Return a stream of messages, with their headers where they are asked for, or options name or need them."""
    read_options = {
        "topic": ";".join(options.topics) or None,
        "topic-pattern": options.topic_pattern,
        "scan.startup.mode": options.startup_mode,
        "scan.startup.specific-offsets": options.specific_offsets,
        "scan.startup.timestamp-millis": options.startup_millis,
        "scan.topic-partition-discovery.interval": f"{options.discovery_interval_ms} ms",
        "scan.check.duplicated.group.id": str(options.check_duplicated_group).lower(),
        "scan.max-records-per-batch": str(MICRO_BATCH_RECORDS),
    }
    has_headers = has_headers or options.value_format == FORMAT_NAME
    names = dict.fromkeys((*options.metadata, *(("headers",) if has_headers else ())))
    metadata = [f"{name} AS {SOURCE_COLUMNS[name]}" for name in names if name in SOURCE_COLUMNS]
    if metadata:
        read_options["metadata.columns"] = ", ".join(metadata)
    read = {name: str(value) for name, value in read_options.items() if value is not None}
    return stream_reader(spark, "messages").format("millrace").options(**client_options(options), **read).load()


def newest_messages(options: KafkaSourceOptions, count: int) -> Mapping[str, Sequence[SampledMessage]]:
    """Read the newest messages of each partition, by topic.

    Args:
        options: The source's options.
        count: The number of messages of each partition.

    Raises:
        ClientError: A topic does not exist, or the brokers refused.
    """
    if not count:
        return {}
    topics = Topics(client_of(options))
    names: Sequence[str] = options.topics
    if options.topic_pattern is not None:
        matches = java_pattern(options.topic_pattern).fullmatch
        names = [name for name in topics.names() if matches(name)]
    return topics.newest(names, count)


def client_of(options: KafkaSourceOptions) -> Properties:
    """Return the properties of the Kafka client.

    Raises:
        OptionsError: Some are wrong.
    """
    parser = OptionParser("source", client_options(options))
    client = take_client_properties(parser)
    parser.finish()
    return client


def reads_topic(options: KafkaSourceOptions, topic: str) -> bool:
    """Return whether a topic is among those that are read."""
    pattern = options.topic_pattern
    return topic in options.topics or (pattern is not None and java_pattern(pattern).fullmatch(topic) is not None)


def client_options(options: KafkaSourceOptions) -> dict[str, str]:
    """Return the options of the data source that configure the Kafka client."""
    group = {} if options.group_id is None else {"properties.group.id": options.group_id}
    servers = {"properties.bootstrap.servers": options.bootstrap_servers}
    return {
        **servers,
        **group,
        **{f"properties.{name.removeprefix('properties.')}": value for name, value in options.properties},
    }


def _schema_headers(options: KafkaSourceOptions) -> SchemaHeaders | None:
    if options.value_format != FORMAT_NAME:
        return None
    format_: Format = registry_format(options).create()
    key, value = (format_.schema_header(is_key=is_key) for is_key in (True, False))
    return None if key is None or value is None else SchemaHeaders(key, value)


def _format_options(options: KafkaSourceOptions) -> FormatOptions:
    if options.value_format == "debezium-json":
        return DebeziumChangeOptions(
            ignore_parse_errors=options.debezium_ignore_parse_errors,
            primitive_as_string=options.debezium_primitive_as_string,
            schema_include=options.debezium_schema_include,
            out_of_range=options.debezium_out_of_range,
        )
    if options.value_format == FORMAT_NAME:
        return RegistryChangeOptions(
            schema_include=True, format=registry_format(options), out_of_range=options.avro_out_of_range
        )
    if options.value_format == "canal-json":
        return CanalInferenceOptions(
            ignore_parse_errors=options.canal_ignore_parse_errors,
            primitive_as_string=options.canal_primitive_as_string,
            database_include=options.canal_database_include,
            table_include=options.canal_table_include,
            strategy=options.canal_strategy,
            timestamp_as_datetime=options.canal_timestamp_as_datetime,
            tinyint1_as_boolean=options.canal_tinyint1_as_boolean,
        )
    if options.value_format == "maxwell-json":
        return FormatOptions(
            ignore_parse_errors=options.maxwell_ignore_parse_errors,
            primitive_as_string=options.maxwell_primitive_as_string,
        )
    if options.value_format == "ogg-json":
        return FormatOptions(
            ignore_parse_errors=options.ogg_ignore_parse_errors, primitive_as_string=options.ogg_primitive_as_string
        )
    return JsonRowOptions(
        ignore_parse_errors=options.json_ignore_parse_errors,
        timestamp_format=options.json_timestamp_format,
        primitive_as_string=options.json_primitive_as_string,
        flatten=options.json_flatten,
        fixed_types=options.json_fixed_types,
        table_fields=options.json_table_fields,
        deletion_field=options.json_deletion_field,
    )
