"""The columns that a schema registry has for the values of a topic."""

from __future__ import annotations

from millrace.contracts import Format, SerializationContext
from millrace.errors import SchemaError
from millrace_catalog.inference.result import InferredColumn, InferredTable
from millrace_catalog.inference.topic_inference import SampledTable
from millrace_catalog.types.arrow import from_arrow_schema


def registered_table(topic: str, value_format: Format) -> SampledTable:
    """Return the table of a topic whose format knows its columns.

    Raises:
        SchemaError: The registry has no schema for the topic, or one without columns.
        RegistryError: The registry could not be asked.
    """
    schema = value_format.default_schema_for(SerializationContext(topic))
    if schema is None:
        raise SchemaError(
            f"topic {topic!r}: the schema registry has no schema with columns for its values; write some messages, "
            f"give option 'subject' of the format, or read it with a schema: .schema('id BIGINT, name STRING, ...')"
        )
    columns = tuple(
        InferredColumn(column.name, column.type, (), ((column.name,),)) for column in from_arrow_schema(schema)
    )
    return SampledTable(InferredTable(topic, columns), 0, ())
