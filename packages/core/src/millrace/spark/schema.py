"""Translate between Spark's schemas and Arrow's."""

from __future__ import annotations

import functools
import json
from contextlib import suppress

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.types import StructField, StructType

from millrace.configuration import SourceConfig
from millrace.contracts import ChangelogFormat, Format
from millrace.errors import SchemaError
from millrace.pyspark_internals import from_arrow_schema, to_arrow_schema
from millrace.records.metadata_columns import metadata_fields
from millrace.records.spark_kafka_columns import spark_kafka_schema


def default_schema(config: SourceConfig) -> StructType:
    """Return the columns of a read for which the user gave none.

    Raises:
        SchemaError: Only the user can say which columns there are.
    """
    value_format = None if config.value_format is None else config.value_format.create()
    format_metadata = value_format.metadata() if isinstance(value_format, ChangelogFormat) else {}
    values = _default_values(config, value_format)
    metadata = metadata_fields(config.options.metadata, format_metadata)
    repeated = {field.name for field in metadata} & set(values.names)
    if repeated:
        raise SchemaError(
            f"metadata column {min(repeated)!r} is a column of the read already; name it otherwise in option "
            f"'metadata.columns', with AS"
        )
    return from_arrow_schema(pa.schema([*values, *metadata]))


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow schema that Spark uses for a schema of its own.

    Raises:
        SchemaError: A column has a type that no format carries.
    """
    return _arrow_schema(schema.json())


def _default_values(config: SourceConfig, value_format: Format | None) -> pa.Schema:
    if config.value_format is None or value_format is None:
        return spark_kafka_schema(include_headers=config.options.include_headers)
    options = config.options
    row_kind_column = options.row_kind_column if isinstance(value_format, ChangelogFormat) else None
    schema = value_format.default_schema()
    if config.key_format is not None and options.leaves_key_out:
        raise SchemaError(
            f"the columns of the key ({', '.join(options.key_fields)}) are no part of the value: give all columns with "
            f".schema('id BIGINT, name STRING, ...')"
        )
    if schema is None and config.inference is not None:
        from millrace.spark.inference import inferred_columns

        schema = inferred_columns(config, config.inference)
    if schema is None:
        example = (
            "id BIGINT, name STRING" if row_kind_column is None else f"{row_kind_column} STRING, id BIGINT, name STRING"
        )
        raise SchemaError(
            f"format {config.value_format.name!r} needs to know the columns: give them with .schema('{example}, ...')"
        )
    columns = [field.with_name(options.value_prefix + field.name) for field in schema]
    return pa.schema(columns if row_kind_column is None else [pa.field(row_kind_column, pa.string()), *columns])


@functools.lru_cache(maxsize=64)
def _arrow_schema(text: str) -> pa.Schema:
    return pa.schema([_arrow_field(field) for field in StructType.fromJson(json.loads(text))])


def _arrow_field(field: StructField) -> pa.Field:
    # Arrow has no variant: Spark carries one as two binary values, which would be written and read as such
    is_variant = '"variant"' in field.dataType.json()
    with suppress(PySparkException):
        if not is_variant:
            return to_arrow_schema(StructType([field])).field(0)
    raise SchemaError(
        f"column {field.name} has the type {field.dataType.simpleString().upper()}, which is not supported: read or "
        f"write it as another type, such as STRING"
    )
