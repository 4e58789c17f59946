"""Translate between Spark's schemas and Arrow's."""

from __future__ import annotations

import functools
import itertools
import json
from contextlib import suppress

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.types import ArrayType, DataType, MapType, NullType, StructField, StructType

from millrace.configuration import SourceConfig
from millrace.contracts import ChangelogFormat, Format
from millrace.errors import SchemaError
from millrace.options.column_list import OTHERS
from millrace.pyspark_internals import from_arrow_schema, to_arrow_schema
from millrace.records.metadata_columns import metadata_fields
from millrace.records.spark_kafka_columns import spark_kafka_schema
from millrace.spark.ddl import parse_ddl


def default_schema(config: SourceConfig) -> StructType:
    """Return the columns of a read for which the user gave none.

    Raises:
        SchemaError: Only the user can say which columns there are.
    """
    row_kinds, values, metadata = _undeclared_columns(config)
    return from_arrow_schema(pa.schema([*row_kinds, *values, *metadata]))


def columns_of_read(config: SourceConfig) -> StructType:
    """Return the columns of a read without a schema: those of the option ``columns``, and those that are found.

    Spark is told `declared_schema` or `default_schema`; here its types are parsed without it.

    Raises:
        SchemaError: The option has a wrong type, columns cannot be found, or names differ only in case.
    """
    if config.options.columns:
        return distinct_columns(parse_ddl(declared_schema(config), "option 'columns'"))
    return distinct_columns(default_schema(config))


def declared_schema(config: SourceConfig) -> str:
    """Return the columns of a read for which the option ``columns`` gives some or all, as Spark's DDL.

    Raises:
        SchemaError: The other columns are asked for, and cannot be found, or have the name of one, case aside.
    """
    declared = config.options.columns
    names = {column.name for column in declared}
    undeclared = [
        [field for field in from_arrow_schema(pa.schema(fields)) if field.name not in names]
        for fields in _undeclared_columns(config)
    ]
    distinct_columns(StructType([*(StructField(name, NullType()) for name in names), *itertools.chain(*undeclared)]))
    first, others, last = (list(map(_column_ddl, fields)) for fields in undeclared)
    middle = [text for column in declared for text in (others if column.name == OTHERS else [column.ddl])]
    return ", ".join([*first, *middle, *last])


def distinct_columns(schema: StructType) -> StructType:
    """Return the columns of a read if Spark can tell their names apart.

    Raises:
        SchemaError: Two columns, or fields of one, have the same name but for its case, which Spark ignores by default.
    """
    _check_case(schema, "")
    return schema


def check_declared_columns(config: SourceConfig, schema: pa.Schema) -> None:
    """Refuse columns that are declared in two ways.

    Raises:
        SchemaError: A schema was given beside the option ``columns``, and lacks one of its columns.
    """
    for column in config.options.columns:
        if column.name not in (OTHERS, *schema.names):
            raise SchemaError(
                f"option 'columns' declares column {column.name!r}, which the schema lacks: give the columns once, "
                f"with .schema(...) or with the option"
            )


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow schema that Spark uses for a schema of its own.

    Raises:
        SchemaError: A column has a type that no format carries.
    """
    return _arrow_schema(schema.json())


def spark_schema(schema: pa.Schema) -> StructType:
    """Return the Spark schema of a schema of the user's in Arrow's types.

    Raises:
        SchemaError: Spark has no such type.
    """
    fields = []
    for field in schema:
        try:
            fields.extend(from_arrow_schema(pa.schema([field])))
        except PySparkException:
            raise SchemaError(f"column {field.name} has Arrow's type {field.type}, which Spark does not have") from None
    return StructType(fields)


def _check_case(type_: DataType, path: str) -> None:
    if isinstance(type_, ArrayType | MapType):
        _check_case(type_.elementType if isinstance(type_, ArrayType) else type_.valueType, path)
    spellings: dict[str, str] = {}
    for field in type_.fields if isinstance(type_, StructType) else ():
        name = f"{path}{field.name}"
        other = spellings.pop(name.lower(), None)
        spellings[name.lower()] = name
        if other == name:
            raise SchemaError(f"column {name!r} is given twice: name each column once")
        if other is not None:
            raise SchemaError(
                f"the columns {other!r} and {name!r} differ only in case, and Spark takes them for the same: give the "
                f"columns with .schema('id BIGINT, name STRING, ...'), and of these the one that is needed"
            )
        _check_case(field.dataType, f"{name}.")


def _undeclared_columns(config: SourceConfig) -> tuple[list[pa.Field], list[pa.Field], list[pa.Field]]:
    """Return the columns of a read without declared ones: row kinds, values and metadata."""
    options, value_format = config.options, None if config.value_format is None else config.value_format.create()
    changelog = value_format if isinstance(value_format, ChangelogFormat) else None
    has_row_kinds = changelog is not None or options.is_upsert
    row_kinds = [pa.field(options.row_kind_column, pa.string())] if has_row_kinds else []
    is_complete = bool(options.columns) and all(column.name != OTHERS for column in options.columns)
    values = [] if is_complete else _values(config, value_format)
    metadata = metadata_fields(options.metadata, {} if changelog is None else changelog.metadata())
    repeated = {field.name for field in metadata} & {field.name for field in (*row_kinds, *values)}
    if repeated:
        raise SchemaError(
            f"metadata column {min(repeated)!r} is a column of the read already; name it otherwise in option "
            f"'metadata.columns', with AS"
        )
    return row_kinds, values, metadata


def _values(config: SourceConfig, value_format: Format | None) -> list[pa.Field]:
    options = config.options
    if config.value_format is None or value_format is None:
        return list(spark_kafka_schema(include_headers=options.include_headers))
    declared = {column.name for column in options.columns}
    if config.key_format is not None and options.leaves_key_out and not declared.issuperset(options.key_fields):
        raise SchemaError(
            f"the columns of the key ({', '.join(options.key_fields)}) are no part of the value: give all columns with "
            f".schema('id BIGINT, name STRING, ...'), or those of the key with option 'columns' = "
            f"'{options.key_fields[0]} BIGINT, *'"
        )
    schema = _known_columns(config, value_format)
    if schema is None and config.inference is not None:
        from millrace.spark.inference import inferred_columns

        schema = inferred_columns(config, config.inference)
    if schema is None:
        has_row_kinds = isinstance(value_format, ChangelogFormat) or options.is_upsert
        first = f"{options.row_kind_column} STRING, " if has_row_kinds else ""
        raise SchemaError(
            f"format {config.value_format.name!r} needs to know the columns: give them with "
            f".schema('{first}id BIGINT, name STRING, ...')"
        )
    return [field.with_name(options.value_prefix + field.name) for field in schema]


def _known_columns(config: SourceConfig, value_format: Format) -> pa.Schema | None:
    """Return the columns that a format knows without any message."""
    if not value_format.depends_on_topic:
        return value_format.default_schema()
    from millrace.spark.inference import columns_of_topics

    return columns_of_topics(config, value_format)


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


def _column_ddl(field: StructField) -> str:
    """Write a column as Spark's DDL, which Spark itself parses where a data source has no session."""
    return f"{_quote(field.name)} {_type_ddl(field.dataType)}{'' if field.nullable else ' NOT NULL'}"


def _type_ddl(type_: DataType) -> str:
    if isinstance(type_, StructType):
        return f"STRUCT<{', '.join(map(_nested_ddl, type_.fields))}>"
    if isinstance(type_, ArrayType):
        return f"ARRAY<{_type_ddl(type_.elementType)}>"
    if isinstance(type_, MapType):
        return f"MAP<{_type_ddl(type_.keyType)}, {_type_ddl(type_.valueType)}>"
    return type_.simpleString().upper()


def _nested_ddl(field: StructField) -> str:
    return f"{_quote(field.name)}: {_type_ddl(field.dataType)}{'' if field.nullable else ' NOT NULL'}"


def _quote(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def column_types(schema: StructType) -> dict[str, str]:
    """Return the type of each column by its name, as Spark writes types."""
    return {field.name: field.dataType.simpleString() for field in schema.fields}
