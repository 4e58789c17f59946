"""Find the columns of a read where the user gave none: those that the format knows for its topics, or inferred ones."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from millrace.configuration import SourceConfig
from millrace.contracts import Format, SampledMessage, SchemaInference, SerializationContext
from millrace.errors import SchemaError
from millrace.kafka.admin import KafkaAdmin
from millrace.plugins.manager import PluginRef
from millrace.records.messages import Messages
from millrace.sampling.newest import newest_messages
from millrace.source.enumerator.subscriber import subscriber_for
from millrace.source.reader.header_filter import filter_by_headers, load_header_filter


def inferred_columns(config: SourceConfig, inference: PluginRef) -> pa.Schema:
    """Infer the columns of values from the newest messages of every partition that is read.

    Raises:
        SchemaError: No message has any columns, or they cannot be read together.
        MessageError: A message is malformed.
        UnknownTopicError, ClientError: There is no such topic, or the brokers did not answer.
    """
    options = config.options
    samples = _sample(config) if options.sampled_messages else {}
    schema_inference: SchemaInference = inference.create()
    columns = schema_inference.infer(samples, options.max_inferred_columns, skip_malformed=options.ignore_errors)
    if not len(columns) and not options.sampled_messages:
        raise SchemaError(
            "option 'scan.max.pre.fetch.records' is 0, so that no columns are inferred from messages: give them with "
            ".schema('id BIGINT, name STRING, ...') or, with json, by option 'json.infer-schema.fixed-types'"
        )
    if not len(columns):
        raise SchemaError(
            f"the columns of format {inference.name!r} are inferred from messages, and no message with any is in "
            f"{_describe_topics(samples)}: write some, or give the columns with .schema('id BIGINT, name STRING, ...')"
        )
    return columns


def columns_of_topics(config: SourceConfig, value_format: Format) -> pa.Schema | None:
    """Return the columns of the values of all topics of a read; None if those of one topic cannot be determined.

    Raises:
        SchemaError: A column has another type in another topic.
        UnknownTopicError, ClientError: There is no such topic, or the brokers did not answer.
    """
    partitions = subscriber_for(config.options).partitions(KafkaAdmin(config.client), ()).partitions
    return merged_columns({partition.topic for partition in partitions}, value_format)


def merged_columns(topics: Collection[str], value_format: Format) -> pa.Schema | None:
    """Return the columns of the values of some topics; otherwise as `columns_of_topics`."""
    columns: dict[str, tuple[pa.Field, str]] = {}
    for topic in sorted(topics):
        schema = value_format.default_schema_for(SerializationContext(topic))
        if schema is None:
            return None
        for field in schema:
            known, other = columns.setdefault(field.name, (field, topic))
            if known.type != field.type:
                raise SchemaError(
                    f"column {field.name} is {field.type} in topic {topic!r}, but {known.type} in topic {other!r}: "
                    f"give the columns with .schema('...')"
                )
    return pa.schema([field for field, _ in columns.values()]) if topics else None


def _sample(config: SourceConfig) -> dict[str, list[SampledMessage]]:
    """Return, by topic, the newest messages of each of its partitions that would be read."""
    admin = KafkaAdmin(config.client)
    partitions = subscriber_for(config.options).partitions(admin, ()).partitions
    header_filter = load_header_filter(config.header_filter)
    samples: dict[str, list[SampledMessage]] = {}
    for partition, newest in newest_messages(config.client, admin, partitions, config.options.sampled_messages).items():
        messages = Messages(partition, newest)
        matching = filter_by_headers(header_filter, messages) if newest else messages
        samples.setdefault(partition.topic, []).extend(
            SampledMessage(partition.partition, message.offset(), message.key(), message.value())
            for message in matching.items
        )
    return samples


def _describe_topics(topics: Collection[str]) -> str:
    return f"topic {', '.join(map(repr, topics))}" if topics else "the topics that are chosen"
