"""Columns of a read that the format knows for each topic, such as those of a schema registry."""

from __future__ import annotations

import pyarrow as pa

from millrace.configuration import SourceConfig
from millrace.contracts import Format, SerializationContext
from millrace.errors import SchemaError
from millrace.kafka.admin import KafkaAdmin
from millrace.source.enumerator.subscriber import subscriber_for


def columns_of_topics(config: SourceConfig, value_format: Format) -> pa.Schema | None:
    """Return the columns of the values of all topics of a read; None when one topic's are not known.

    Raises:
        SchemaError: A column has another type in another topic.
        UnknownTopicError, ClientError: There is no such topic, or the brokers did not answer.
    """
    partitions = subscriber_for(config.options).partitions(KafkaAdmin(config.client), ()).partitions
    found: dict[str, tuple[pa.Field, str]] = {}
    topics = sorted({partition.topic for partition in partitions})
    for topic in topics:
        schema = value_format.default_schema_for(SerializationContext(topic))
        if schema is None:
            return None
        for field in schema:
            known, other = found.setdefault(field.name, (field, topic))
            if known.type != field.type:
                raise SchemaError(
                    f"column {field.name} is {field.type} in topic {topic!r}, but {known.type} in topic {other!r}: "
                    f"give the columns with .schema('...')"
                )
    return pa.schema([field for field, _ in found.values()]) if topics else None
