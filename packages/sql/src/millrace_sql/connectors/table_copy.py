"""Copy a topic into a table whose columns follow those of its messages: ``CREATE TABLE ... AS TABLE``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from millrace.contracts import TableColumn, TableDescription
from millrace.errors import OptionsError, SchemaError
from millrace.options.secrets import Properties
from millrace_catalog import JdbcSink, KafkaJsonCatalog, ParquetSink, replicate
from millrace_catalog.types import Column, with_nullability
from millrace_catalog.types.identifiers import backquote
from millrace_catalog.types.spark import from_spark
from millrace_sql.connectors.filesystem import FilesystemTableFactory
from millrace_sql.connectors.jdbc import JdbcOptions, JdbcTableFactory
from millrace_sql.connectors.kafka.data_source_options import KafkaTable, kafka_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_catalog import EvolvingQuery, ReplicationSink

_FIXED_TYPES = "json.infer-schema.fixed-types"
_SAMPLE = ("scan.max.pre.fetch.records", "infer-schema.max-columns", "schema.inference.strategy")
_OF_THE_TABLE = {
    "connector",
    "topic",
    "format",
    "value.format",
    "key.format",
    "key.fields",
    "key.fields-prefix",
    "value.fields-prefix",
    "value.fields-include",
}
_POSITION = {"partition", "offset", "timestamp"}
"""The metadata that every copy has, under these names."""


@dataclass(frozen=True)
class TableCopy:
    """A topic, as the catalog copies it.

    Attributes:
        topic: The topic.
        catalog_options: The options of the catalog.
        read_options: The options of the read.
        computed_columns: Expressions of Spark SQL by the names of columns to add behind those of the topic.
    """

    topic: str
    catalog_options: Properties
    read_options: Properties
    computed_columns: Mapping[str, str]


def copy_table(
    source: TableDescription,
    target: TableDescription,
    target_connector: str,
    added_columns: Mapping[str, str],
    *,
    spark: SparkSession,
    checkpoint_location: str,
    column_places: Mapping[str, str] | None = None,
    trigger: Mapping[str, Any] | None = None,
) -> EvolvingQuery:
    """Start a query that copies a topic into a table, whose columns follow those of the messages.

    The copy has the columns of key and value, then ``partition``, ``offset`` and ``timestamp``, by the first two of
    which a row is never written twice; then the computed columns of the source, and the added ones.

    Args:
        source: A table of connector kafka and format json, with the columns that it declares; the expressions of its
            computed columns are Spark SQL.
        target: The table to create: its options.
        target_connector: filesystem, with format parquet, or jdbc.
        added_columns: Expressions of Spark SQL by the names of columns to add.
        spark: A classic session.
        checkpoint_location: Location of the query's checkpoint.
        column_places: The columns before added ones, by their names; an empty text for the first place.
        trigger: Arguments of `DataStreamWriter.trigger`.

    Raises:
        OptionsError: Such a table cannot be copied, or not into such a one.
        SchemaError: A column cannot be copied, or a computed column is wrong.
        MachineError: The session lacks what the copy needs.
    """
    sink = copy_sink(target, target_connector)
    copy = described_copy(source, added_columns)
    return replicate(
        KafkaJsonCatalog.from_options(copy.catalog_options).table(copy.topic),
        sink,
        spark=spark,
        checkpoint_location=checkpoint_location,
        computed_columns=copy.computed_columns,
        column_places=column_places,
        options=copy.read_options,
        trigger=trigger,
    )


def described_copy(source: TableDescription, added_columns: Mapping[str, str]) -> TableCopy:
    """Return how the catalog copies a table of connector kafka; see `copy_table`."""
    kafka = kafka_table(source, "kafka")
    topic, value_format = kafka.option("topic"), kafka.option("value.format", "format")
    if topic is None or ";" in topic:
        raise _refusal(source, "AS TABLE copies one topic: name it by option 'topic'")
    if value_format != "json":
        raise _refusal(
            source, f"AS TABLE copies topics of format 'json', not {value_format!r}; copy others with AS SELECT"
        )
    catalog_options = {
        name: value
        for name, value in kafka.options.items()
        if name.lower().startswith(("properties.", "json.")) or name.lower() in _SAMPLE
    }
    prefixes = {name: kafka.option(name) for name in ("key.fields-prefix", "value.fields-prefix")}
    catalog_options |= {name: prefix for name, prefix in prefixes.items() if prefix is not None}
    fixed = _fixed_types(kafka, prefixes["value.fields-prefix"] or "")
    if fixed:
        catalog_options[_FIXED_TYPES] = fixed
    read_options = {
        name: value
        for name, value in kafka.options.items()
        if name not in catalog_options and name.lower() not in _OF_THE_TABLE
    }
    computed = {column.name: _metadata_expression(source, column) for column in _renamed_metadata(source)}
    computed |= {column.name: column.expression for column in source.columns if column.expression is not None}
    for name in added_columns:
        if name.lower() in {column.lower() for column in computed}:
            raise SchemaError(f"table {source.name!r} has a column {name!r} already: give the added one another name")
    return TableCopy(topic, Properties(catalog_options), Properties(read_options), {**computed, **added_columns})


def copy_sink(target: TableDescription, connector: str) -> ReplicationSink:
    """Return the sink of a copy.

    Raises:
        OptionsError: A table of that connector cannot change its columns, or its options are invalid.
    """
    if connector == "filesystem":
        options = FilesystemTableFactory().table_options(target)
        if options.format != "parquet" or target.partition_keys:
            raise _refusal(target, "AS TABLE copies into files of format 'parquet', without PARTITIONED BY")
        return ParquetSink(options.path)
    if connector == "jdbc":
        database: JdbcOptions = JdbcTableFactory().parse_options(target)
        user = {"user": database.username, "password": database.password}
        credentials = {name: value for name, value in user.items() if value is not None}
        return JdbcSink(database.url, database.table_name, Properties({**dict(database.properties), **credentials}))
    raise _refusal(
        target,
        f"AS TABLE creates tables that change their columns, of connector 'filesystem' or 'jdbc', not {connector!r}; "
        f"copy into another one with AS SELECT, with fixed columns",
    )


def _fixed_types(kafka: KafkaTable, prefix: str) -> str:
    """Write the declared columns of the value, as the option takes them beside those that it has."""
    keys = set((kafka.option("key.fields") or "").split(";"))
    declared = [kafka.option(_FIXED_TYPES) or ""]
    for column in kafka.table.physical_columns:
        if column.name not in keys:
            type_ = with_nullability(from_spark(column.type), column.nullable)
            declared.append(str(Column(column.name.removeprefix(prefix), type_)))
    return ", ".join(filter(None, declared))


def _renamed_metadata(source: TableDescription) -> list[TableColumn]:
    return [column for column in source.metadata_columns if column.name.lower() != column.metadata_key]


def _metadata_expression(source: TableDescription, column: TableColumn) -> str:
    if column.metadata_key not in _POSITION:
        raise SchemaError(
            f"table {source.name!r}: column {column.name!r} is metadata {column.metadata_key!r}, and AS TABLE copies "
            f"partition, offset and timestamp only: leave the column out, or copy with AS SELECT"
        )
    return f"CAST({backquote(str(column.metadata_key))} AS {column.type.simpleString()})"


def _refusal(table: TableDescription, problem: str) -> OptionsError:
    return OptionsError(f"table {table.name!r}", (problem,))
