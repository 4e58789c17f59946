"""The options of Kafka as a sink of pipelines, with the names and defaults of the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Gt

from millrace.options import option
from millrace.options.values import parse_topic
from millrace_cdc.connectors.kafka.common_options import KafkaOptions
from millrace_cdc.connectors.kafka.values import parse_topic_mapping
from millrace_cdc.connectors.missing_old_rows import missing_old_rows_option


@dataclass(frozen=True, kw_only=True)
class KafkaSinkOptions(KafkaOptions):
    """The options of Kafka as a sink of pipelines."""

    topic: str | None = option(
        "topic",
        default=None,
        parse=parse_topic,
        doc="The topic of all changes. By default a change goes to the topic named like its table's id.",
    )
    topic_mapping: tuple[tuple[str, str], ...] = option(
        "sink.tableId-to-topic.mapping",
        default=(),
        parse=parse_topic_mapping,
        doc="Topics of tables, as mydb.t1:topic1;mydb.t2,mydb.t3:topic2; tables may be regular expressions, as in a "
        "route. The names of tables in messages stay.",
    )
    partition_strategy: Literal["all-to-zero", "hash-by-key"] = option(
        "partition.strategy",
        default="all-to-zero",
        doc="The partition of a message: all-to-zero for partition 0, hash-by-key by the hash of the primary key.",
    )
    key_format: Literal["csv", "json"] | None = option("key.format", default=None, doc="The format of keys.")
    value_format: Literal["debezium-json", "canal-json", "canal-protobuf"] = option(
        "value.format", default="debezium-json", doc="The format of values."
    )
    debezium_include_schema: bool = option(
        "debezium-json.include-schema.enabled", default=False, doc="Whether messages include their schema."
    )
    debezium_full_table_id: bool = option(
        "debezium-json.emit.full-table-id.enabled",
        default=False,
        doc="Whether source in messages has all parts of a table's id, as db, schema and table; by default, only the "
        "last two, as db and table.",
    )
    delivery_guarantee: Literal["at-least-once", "exactly-once"] = option(
        "sink.delivery-guarantee",
        default="at-least-once",
        doc="exactly-once: each micro-batch is written in transactions, and not again when it is repeated (an "
        "addition).",
    )
    transactional_id_prefix: str | None = option(
        "sink.transactional-id-prefix",
        default=None,
        doc="With exactly-once: the prefix of the transactional ids; each pipeline needs a unique one (an addition).",
    )
    updates_without_old_row: Literal["fail", "write"] = missing_old_rows_option()
    creates_topics: bool = option(
        "sink.topic.create",
        default=True,
        doc="Whether topics of tables that do not exist are created before the first change (an addition).",
    )
    created_partitions: Annotated[int, Gt(0)] | None = option(
        "sink.topic.create.partitions",
        default=None,
        doc="The number of partitions of topics that are created (an addition). By default the brokers' "
        "num.partitions.",
    )
    created_replication_factor: Annotated[int, Gt(0)] | None = option(
        "sink.topic.create.replication-factor",
        default=None,
        doc="The replication factor of topics that are created (an addition). By default the brokers' "
        "default.replication.factor.",
    )
    created_config: tuple[tuple[str, str], ...] = option(
        "sink.topic.create.config.*",
        default=(),
        doc="The configuration of topics that are created, such as sink.topic.create.config.cleanup.policy: compact "
        "(an addition). By default the brokers'.",
    )
