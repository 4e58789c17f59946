"""Schemas: Spark's on the outside, Arrow's inside."""

from __future__ import annotations

import functools
import json

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from millrace.configuration import SourceConfig
from millrace.errors import SchemaError
from millrace.source.kafka_columns import kafka_schema
from millrace.source.metadata import metadata_fields


def default_schema(config: SourceConfig) -> StructType:
    """The columns of a read for which the user gave none.

    Raises:
        SchemaError: The format's columns are the user's to say.
    """
    values = _default_values(config)
    metadata = metadata_fields(config.options.metadata)
    repeated = {field.name for field in metadata} & set(values.names)
    if repeated:
        raise SchemaError(
            f"metadata column {min(repeated)!r} is a column of the read already; name it otherwise in option "
            f"'metadata.columns', with AS"
        )
    return from_arrow_schema(pa.schema([*values, *metadata]))


def arrow_schema(schema: StructType) -> pa.Schema:
    """The Arrow schema that Spark uses for a schema of its own."""
    return _arrow_schema(schema.json())


def _default_values(config: SourceConfig) -> pa.Schema:
    if config.value_format is None:
        return kafka_schema(include_headers=config.options.include_headers)
    schema = config.value_format.create().default_schema()
    if schema is None:
        raise SchemaError(
            f"format {config.value_format.name!r} needs to know the columns: give them with "
            f".schema('id BIGINT, name STRING, ...')"
        )
    return schema


@functools.lru_cache(maxsize=64)
def _arrow_schema(text: str) -> pa.Schema:
    return to_arrow_schema(StructType.fromJson(json.loads(text)), timezone="UTC")
