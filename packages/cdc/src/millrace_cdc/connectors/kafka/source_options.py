"""The options of Kafka as a source of pipelines, with the names and defaults of the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from millrace.options import option
from millrace.options.values import (
    parse_duration_ms,
    parse_java_pattern,
    parse_share,
    parse_time_ms,
    parse_topics,
)
from millrace_catalog.inference.options import parse_fixed_types, parse_table_fields
from millrace_catalog.types import Column
from millrace_cdc.connectors.initial_schemas import InitialSchema, parse_initial_schemas
from millrace_cdc.connectors.kafka.common_options import KafkaOptions
from millrace_cdc.connectors.kafka.values import parse_metadata_list, parse_specific_offsets
from millrace_cdc.table_id import MOST_PARTS

_DISTRIBUTED = "Whether changes of a table are in several partitions. To change it, start without a checkpoint."
_IGNORED = "Whether rows that cannot be parsed are skipped."
_OUT_OF_RANGE = (
    "How to read dates and times that do not fit the types of their columns, such as infinity, years before 1, and "
    "MySQL's TIME beyond a day: text, the column becomes STRING; null; fail, the message is malformed (an addition)."
)
_STRINGS = "Whether all values except arrays and objects are inferred as STRING."


def _parse_table_fields(text: str) -> tuple[str, ...]:
    fields = parse_table_fields(text)
    if len(fields) > MOST_PARTS:
        raise ValueError(f"the id of a table has at most three parts, got {len(fields)} fields")
    return fields


@dataclass(frozen=True, kw_only=True)
class ReadOptions(KafkaOptions):
    """The topics, and where in them reading starts."""

    topics: tuple[str, ...] = option(
        "topic", default=(), parse=parse_topics, doc="The topics to read, separated by ';'. Not with topic-pattern."
    )
    topic_pattern: str | None = option(
        "topic-pattern",
        default=None,
        parse=parse_java_pattern,
        doc="A Java regular expression that must match the whole names of the topics to read.",
    )
    group_id: str | None = option(
        "properties.group.id", default=None, doc="The consumer group to start from, and to follow, for monitoring."
    )
    startup_mode: Literal["earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets"] = (
        option("scan.startup.mode", default="group-offsets", doc="Where a pipeline without a checkpoint starts.")
    )
    specific_offsets: str | None = option(
        "scan.startup.specific-offsets",
        default=None,
        parse=parse_specific_offsets,
        doc="With specific-offsets: the offsets, as partition:0,offset:42;partition:1,offset:300.",
    )
    timestamp: int | None = option(
        "scan.startup.timestamp",
        default=None,
        parse=parse_time_ms,
        doc="With timestamp: the time of the first messages, such as '2026-11-27 16:00' or '2026-11-27T15:00:00Z'; "
        "without a zone, the zone of the machine that starts the pipeline applies.",
    )
    timestamp_millis: Annotated[int, Ge(0)] | None = option(
        "scan.startup.timestamp-millis",
        default=None,
        doc="The same in milliseconds since 1970.",
    )
    discovery_interval_ms: int = option(
        "scan.topic-partition-discovery.interval",
        default=300_000,
        parse=parse_duration_ms,
        doc="How often to look for new partitions and, with topic-pattern, new topics; 0 or less turns it off.",
    )
    check_duplicated_group: bool = option(
        "scan.check.duplicated.group.id",
        default=False,
        doc="Whether the pipeline refuses to start while properties.group.id is in use.",
    )
    metadata: tuple[str, ...] = option(
        "metadata.list",
        default=(),
        parse=parse_metadata_list,
        doc="Metadata of messages as columns, separated by ',': topic, partition, offset, timestamp, timestamp-type, "
        "headers, leader-epoch.",
    )
    ignore_errors: bool = option(
        "ingestion.ignore-errors",
        default=False,
        doc="Whether messages that cannot be parsed are skipped and counted; if not, the first one ends the pipeline.",
    )
    max_errors: Annotated[int, Ge(-1)] = option(
        "ingestion.error-tolerance.max-count",
        default=-1,
        doc="With ingestion.ignore-errors: how many messages may be skipped before the pipeline fails; -1 for any "
        "number.",
    )
    max_error_ratio: float | None = option(
        "dirty-data.max-ratio",
        default=None,
        parse=parse_share,
        doc="With ingestion.ignore-errors: the largest share of skipped messages, such as 0.01 or 1 %, since this "
        "start, once 100 messages are read. It is compared for each micro-batch before the sink gets it. (Addition.)",
    )
    max_consecutive_errors: Annotated[int, Ge(0)] | None = option(
        "dirty-data.max-consecutive",
        default=None,
        doc="With ingestion.ignore-errors: how many messages one after another in a partition may be skipped since "
        "this start. (Addition.)",
    )

    @property
    def startup_millis(self) -> int | None:
        """The time of the first messages, in milliseconds since 1970; None where none is given."""
        return self.timestamp_millis if self.timestamp is None else self.timestamp


@dataclass(frozen=True, kw_only=True)
class SchemaOptions(ReadOptions):
    """The formats of keys and values, and the schemas of the tables."""

    key_format: Literal["json"] | None = option("key.format", default=None, doc="The format of keys.")
    value_format: Literal[
        "debezium-json", "canal-json", "maxwell-json", "ogg-json", "json", "debezium-avro-confluent"
    ] = option(
        "value.format",
        default="debezium-json",
        doc="The format of values; maxwell-json, ogg-json and debezium-avro-confluent are additions.",
    )
    key_prefix: str = option(
        "key.fields-prefix", default="", doc="A prefix of the names of the key's columns: with key_, a becomes key_a."
    )
    value_prefix: str = option(
        "value.fields-prefix",
        default="",
        doc="A prefix of the names of the value's columns: with value_, b becomes value_b.",
    )
    primary_keys_from: Literal["key"] | None = option(
        "primary-keys-from",
        default=None,
        doc="key: the columns in the keys of messages are the primary keys of their tables. By default only formats "
        "that name them, and rules, give primary keys. (Addition.)",
    )
    inference_strategy: Literal["continuous", "static"] = option(
        "schema.inference.strategy",
        default="continuous",
        doc="continuous: every message may widen its table's schema. static: the schema stays as at the start.",
    )
    prefetched_records: Annotated[int, Ge(0)] = option(
        "scan.max.pre.fetch.records",
        default=50,
        doc="The number of newest messages of each partition that the first schemas are inferred from.",
    )
    initial_schemas: tuple[InitialSchema, ...] = option(
        "scan.value.initial-schemas.ddls",
        default=(),
        parse=parse_initial_schemas,
        doc="The first schemas of some tables: CREATE TABLE statements in Flink's SQL, separated by ';'.",
    )


@dataclass(frozen=True, kw_only=True)
class MoreFormatOptions(SchemaOptions):
    """The options of formats that the reference has for tables only."""

    maxwell_distributed: bool = option("maxwell-json.distributed-tables", default=False, doc=_DISTRIBUTED)
    maxwell_ignore_parse_errors: bool = option("maxwell-json.ignore-parse-errors", default=False, doc=_IGNORED)
    maxwell_primitive_as_string: bool = option(
        "maxwell-json.infer-schema.primitive-as-string", default=False, doc=_STRINGS
    )
    ogg_distributed: bool = option("ogg-json.distributed-tables", default=False, doc=_DISTRIBUTED)
    ogg_ignore_parse_errors: bool = option("ogg-json.ignore-parse-errors", default=False, doc=_IGNORED)
    ogg_primitive_as_string: bool = option("ogg-json.infer-schema.primitive-as-string", default=False, doc=_STRINGS)
    avro_distributed: bool = option("debezium-avro-confluent.distributed-tables", default=False, doc=_DISTRIBUTED)
    avro_out_of_range: Literal["text", "null", "fail"] = option(
        "debezium-avro-confluent.values-out-of-range", default="text", doc=_OUT_OF_RANGE
    )
    avro_registry: tuple[tuple[str, str], ...] = option(
        "debezium-avro-confluent.*",
        default=(),
        is_hidden=True,
        doc="The other options of the format, such as debezium-avro-confluent.url, that of the schema registry; see "
        "docs/options.md.",
    )


@dataclass(frozen=True, kw_only=True)
class KafkaSourceOptions(MoreFormatOptions):
    """The options of Kafka as a source of pipelines."""

    debezium_distributed: bool = option(
        "debezium-json.distributed-tables",
        default=False,
        doc=_DISTRIBUTED,
    )
    debezium_schema_include: bool = option(
        "debezium-json.schema-include",
        default=False,
        doc="Whether messages include their schema, as with value.converter.schemas.enable.",
    )
    debezium_out_of_range: Literal["text", "null", "fail"] = option(
        "debezium-json.values-out-of-range",
        default="text",
        doc=f"With schema-include: {_OUT_OF_RANGE[0].lower()}{_OUT_OF_RANGE[1:]}",
    )
    debezium_ignore_parse_errors: bool = option("debezium-json.ignore-parse-errors", default=False, doc=_IGNORED)
    debezium_primitive_as_string: bool = option(
        "debezium-json.infer-schema.primitive-as-string",
        default=False,
        doc=_STRINGS,
    )
    canal_distributed: bool = option(
        "canal-json.distributed-tables",
        default=False,
        doc=_DISTRIBUTED,
    )
    canal_database_include: str | None = option(
        "canal-json.database.include",
        default=None,
        parse=parse_java_pattern,
        doc="A Java regular expression that must match the whole names of the databases to read.",
    )
    canal_table_include: str | None = option(
        "canal-json.table.include",
        default=None,
        parse=parse_java_pattern,
        doc="A Java regular expression that must match the whole names of the tables to read.",
    )
    canal_ignore_parse_errors: bool = option("canal-json.ignore-parse-errors", default=False, doc=_IGNORED)
    canal_primitive_as_string: bool = option(
        "canal-json.infer-schema.primitive-as-string",
        default=False,
        doc=_STRINGS,
    )
    canal_strategy: Literal["AUTO", "SQL_TYPE", "MYSQL_TYPE"] = option(
        "canal-json.infer-schema.strategy",
        default="AUTO",
        doc="The origin of types. AUTO: the values; SQL_TYPE: the message's sqlType; MYSQL_TYPE: its mysqlType.",
    )
    canal_timestamp_as_datetime: bool = option(
        "canal-json.mysql.treat-mysql-timestamp-as-datetime-enabled",
        default=True,
        doc="With MYSQL_TYPE: whether MySQL's TIMESTAMP is a TIMESTAMP or, if false, a TIMESTAMP_LTZ.",
    )
    canal_tinyint1_as_boolean: bool = option(
        "canal-json.mysql.treat-tinyint1-as-boolean.enabled",
        default=True,
        doc="With MYSQL_TYPE: whether MySQL's TINYINT(1) is a BOOLEAN or, if false, a TINYINT.",
    )
    json_timestamp_format: Literal["SQL", "ISO-8601"] = option(
        "json.timestamp-format.standard",
        default="SQL",
        doc="How timestamps are written: SQL with a blank between date and time, ISO-8601 with a T.",
    )
    json_ignore_parse_errors: bool = option("json.ignore-parse-errors", default=False, doc=_IGNORED)
    json_primitive_as_string: bool = option(
        "json.infer-schema.primitive-as-string",
        default=False,
        doc=_STRINGS,
    )
    json_flatten: bool = option(
        "json.infer-schema.flatten-nested-columns.enable",
        default=False,
        doc="Whether the fields of nested objects are columns, at any depth; if not, a nested object is a STRING.",
    )
    json_table_fields: tuple[str, ...] = option(
        "json.decode.parser-table-id.fields",
        default=(),
        parse=_parse_table_fields,
        doc="One to three fields, separated by ',', whose values are the parts of the id of a message's table; that of "
        "a single one is the whole id. By default the table is named as the topic.",
    )
    json_deletion_field: str = option(
        "json.decode.deletion.field",
        default="",
        doc="The field that marks deletions in records flattened by Debezium, such as __deleted or __op. By "
        "default all messages are insertions. (Addition.)",
    )
    json_fixed_types: tuple[Column, ...] = option(
        "json.infer-schema.fixed-types",
        default=(),
        parse=parse_fixed_types,
        doc="The types of all fields of some names, such as id BIGINT, name VARCHAR(10).",
    )
