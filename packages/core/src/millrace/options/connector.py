"""The options of the Kafka source and sink: names, types, defaults and documentation.

Names, defaults and values are those of the reference connectors; what millrace adds is marked as an addition.
One set of options serves both directions, as one table of the reference does: each side reads its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt

from millrace.options.field import option
from millrace.options.shared import TableOptions
from millrace.options.values import (
    parse_address,
    parse_bounded_mode,
    parse_columns,
    parse_duration_ms,
    parse_folder,
    parse_partitions,
    parse_port_address,
    parse_shared_secret,
)


@dataclass(frozen=True, kw_only=True)
class SourceOptions(TableOptions):
    """The options of the source."""

    partitions: tuple[tuple[str, int], ...] = option(
        "topic-partitions",
        default=(),
        parse=parse_partitions,
        doc="Single partitions to read, as orders:0,1;audit:3 (an addition).",
    )
    startup_mode: str | None = option(
        "scan.startup.mode",
        default=None,
        doc="Where a query without a checkpoint starts: earliest-offset, latest-offset, group-offsets, timestamp, "
        "specific-offsets, or another offset initializer. By default group-offsets when properties.group.id is given; "
        "else, as with Spark's own connector, a stream starts at the latest offsets and a batch at the earliest.",
    )
    offset_reset: Literal["earliest", "latest", "none"] = option(
        "properties.auto.offset.reset",
        default="none",
        doc="Where a partition starts for which the startup mode has no valid offset; with none the query fails, "
        "naming it. With scan.fail-on-data-loss = false it also says where a stream goes on whose next records were "
        "deleted: at the end of the log with latest, else at its beginning.",
    )
    bounded_mode: str | None = option(
        "scan.bounded.mode",
        default=None,
        parse=parse_bounded_mode,
        doc="Where reading stops: latest-offset, group-offsets, timestamp, specific-offsets, or another offset "
        "initializer. By default, and with unbounded, a stream does not stop, and a batch stops at the latest offsets.",
    )
    commit_offsets: bool | None = option(
        "commit.offsets.on.checkpoint",
        default=None,
        aliases=("properties.commit.offsets.on.checkpoint",),
        doc="Whether a stream commits the group's offsets after each micro-batch, for monitoring only; by default when "
        "properties.group.id is given.",
    )
    table_name: str | None = option(
        "table-name",
        default=None,
        doc="The name of the SQL table or view that is read, which Spark does not pass to a data source (an "
        "addition). It makes KafkaSource-<name> the default of properties.group.id.",
    )
    client_id_prefix: str | None = option(
        "client.id.prefix",
        default=None,
        aliases=("properties.client.id.prefix",),
        doc="The prefix of the source's client ids, before host and process; millrace by default. A whole "
        "id in properties.client.id wins.",
    )
    register_consumer_metrics: bool = option(
        "register.consumer.metrics",
        default=True,
        aliases=("properties.register.consumer.metrics",),
        doc="Whether the metrics of a query include the statistics of its Kafka consumers, every 5 seconds "
        "unless properties.statistics.interval.ms sets another interval.",
    )
    check_duplicated_group: bool = option(
        "scan.check.duplicated.group.id",
        default=False,
        doc="Whether a query refuses to start while properties.group.id has live members or another running query of "
        "millrace uses it.",
    )
    max_records_per_batch: Annotated[int, Gt(0)] | None = option(
        "scan.max-records-per-batch",
        default=None,
        aliases=("maxOffsetsPerTrigger",),
        doc="The most records that a micro-batch reads (an addition). By default all there are; of each "
        "partition of an upsert table whose changes have old rows, 500,000.",
    )
    max_bytes_per_batch: Annotated[int, Gt(0)] | None = option(
        "scan.max-bytes-per-batch",
        default=None,
        aliases=("maxBytesPerTrigger",),
        doc="About the most bytes of keys and values that a micro-batch reads, estimated from samples of "
        "the records (an addition). By default all there are.",
    )
    min_records_per_batch: Annotated[int, Gt(0)] | None = option(
        "scan.min-records-per-batch",
        default=None,
        aliases=("minOffsetsPerTrigger",),
        doc="How many records a micro-batch waits for, no longer than scan.max-batch-delay (an addition). By default "
        "it waits for one.",
    )
    max_batch_delay_ms: int = option(
        "scan.max-batch-delay",
        default=900_000,
        parse=parse_duration_ms,
        aliases=("maxTriggerDelay",),
        doc="How long after the last micro-batch scan.min-records-per-batch may hold back the next one (an addition).",
    )
    parallelism: Annotated[int, Gt(0)] | None = option(
        "scan.parallelism",
        default=None,
        aliases=("minPartitions",),
        doc="The minimum number of tasks that read, where there are enough records: partitions are divided for it. "
        "By default a task for each partition with much to read, several for a million records and more, and one for "
        "several partitions with little.",
    )
    max_records_per_split: Annotated[int, Gt(0)] | None = option(
        "scan.split.max-records",
        default=None,
        aliases=("maxRecordsPerPartition",),
        doc="The most records that a task reads (an addition); a million at most.",
    )
    fail_on_data_loss: bool = option(
        "scan.fail-on-data-loss",
        default=True,
        aliases=("failOnDataLoss",),
        doc="Whether a query fails when records that it should read are gone, or their partition or topic "
        "is. If false, it warns, counts the skipped records, and continues with the remaining ones (an "
        "addition).",
    )
    max_drift_ms: Annotated[int, Gt(0)] | None = option(
        "scan.watermark.alignment.max-drift",
        default=None,
        parse=parse_duration_ms,
        doc="Aligned reading: the time that a micro-batch spans, by the timestamps of records, so that no "
        "partition is read far ahead of the others and a watermark does not drop their rows as late. "
        "Off by default.",
    )
    idle_timeout_ms: int | None = option(
        "scan.watermark.idle-timeout",
        default=None,
        parse=parse_duration_ms,
        aliases=("table.exec.source.idle-timeout",),
        doc="Aligned reading: how long a partition without new records still holds back the others; with 0 for "
        "ever. By default not at all (in the reference, for ever).",
    )
    discovery_interval_ms: int = option(
        "scan.topic-partition-discovery.interval",
        default=300_000,
        parse=parse_duration_ms,
        aliases=("partition.discovery.interval.ms", "properties.partition.discovery.interval.ms"),
        doc="How often a stream looks for partitions that were added to its topics; 0 or less turns it off.",
    )
    header_filter: str | None = option(
        "scan.header-filter",
        default=None,
        doc="Keeps only the records whose headers match this expression, such as depart:toy|depart:book&!env:test.",
    )
    filter_language: str = option(
        "scan.filter.language",
        default="expression",
        doc="The language of scan.header-filter: a header-filter plugin (an addition).",
    )
    ignore_errors: bool = option(
        "ingestion.ignore-errors",
        default=False,
        doc="Whether messages that the formats cannot decode are skipped and counted; if not, the first one ends the "
        "query with an error.",
    )
    max_errors: Annotated[int, Ge(-1)] = option(
        "ingestion.error-tolerance.max-count",
        default=-1,
        doc="With ingestion.ignore-errors: the number of malformed messages that a query tolerates; one "
        "more fails it. -1 for any number. It counts all tasks and micro-batches of a stream since its "
        "start, and each task of a batch by itself.",
    )
    dirty_collector: str | None = option(
        "dirty-data.collector",
        default=None,
        aliases=("dirty-data.collector.type",),
        doc="With ingestion.ignore-errors: the destination of malformed messages, a dead-letter-collector plugin: "
        "logger for the log of the executor, topic (an addition) for a topic, or your own, whose options are given as "
        "dirty-data.collector.<option>. By default they are only counted.",
    )
    sampled_messages: Annotated[int, Ge(0)] = option(
        "scan.max.pre.fetch.records",
        default=50,
        doc="The number of newest messages of each partition from which the columns are inferred, if the "
        "user gives none and a plugin can infer those of the format, as for json. With 0 none is read, and the "
        "columns are those of json.infer-schema.fixed-types.",
    )
    max_inferred_columns: Annotated[int, Gt(0)] = option(
        "infer-schema.max-columns",
        default=2_000,
        doc="The largest number of inferred columns, fields within columns included; topics with more are "
        "refused (an addition).",
    )
    primary_key: tuple[str, ...] = option(
        "changelog.primary-key",
        default=(),
        parse=parse_columns,
        doc="With a changelog format: the columns of the primary key, separated by ';'. A read is then exact where "
        "messages repeat events, lack old rows, or begin in the middle: events that change nothing are dropped, the "
        "first row of a key is +I, and old rows come from state. The messages of a key belong into one partition, "
        "as tools write them (an addition; in SQL, PRIMARY KEY with table.exec.source.cdc-events-duplicate).",
    )
    changelog_mode: Literal["retract", "upsert"] = option(
        "changelog.mode",
        default="retract",
        doc="With upsert-kafka, the changes that a stream has: retract for +I, -U, +U and -D, each -U and -D with the "
        "whole old row, for which state is kept; upsert for +U, of a new or a changed row, and -D with the columns of "
        "the key only, for which none is, so that it may start anywhere. With retract a batch has the rows of the "
        "table, with upsert the last change of each key. As in Confluent's Flink (an addition).",
    )
    state_location: str | None = option(
        "state.checkpoints.dir",
        default=None,
        parse=parse_folder,
        doc="With upsert-kafka or changelog.primary-key: the folder of the state of a stream, as a path or a URI that "
        "driver and executors reach: hdfs, s3, gs or a shared disk. Each query has its own. Required unless "
        "changelog.mode = upsert.",
    )
    retained_micro_batches: Annotated[int, Gt(0)] = option(
        "state.checkpoints.num-retained",
        default=100,
        doc="With state.checkpoints.dir: the number of last micro-batches of a partition to which the state can go "
        "back, at least that of Spark's setting spark.sql.streaming.minBatchesToRetain.",
    )
    state_backend: str = option(
        "state.backend",
        default="lmdb",
        aliases=("state.backend.type",),
        doc="With upsert-kafka or changelog.primary-key: the state backend, which keeps state on the local disks of "
        "executors: lmdb, or another plugin, whose options are given as state.backend.<option>.",
    )
    metrics_address: str = option(
        "scan.metrics.address",
        default="127.0.0.1",
        parse=parse_address,
        doc="An address of the driver's machine, as host or host:port, to which executors send metrics (an "
        "addition). The default works for executors on the same machine; empty sends nothing.",
    )
    include_headers: bool = option(
        "includeHeaders",
        default=False,
        doc="Without a format: adds the column headers, as Spark's own connector does.",
    )

    @property
    def has_primary_key(self) -> bool:
        """True when the topic is read as a table whose rows have keys."""
        return self.is_upsert or bool(self.primary_key)

    def __post_init__(self) -> None:
        given = {"topic": self.topics, "topic-pattern": self.topic_pattern, "topic-partitions": self.partitions}
        names = [repr(name) for name, value in given.items() if value]
        if len(names) > 1:
            raise ValueError(f"options {' and '.join(names)} exclude each other: give one of them")

    @property
    def keeps_state(self) -> bool:
        """True when a stream needs to know the rows of its table."""
        return self.has_primary_key and self.changelog_mode == "retract"

    @property
    def has_default_limit(self) -> bool:
        """True when the micro-batches of a stream are limited though the user gave no limit."""
        return self.keeps_state and self.max_records_per_batch is None and self.max_bytes_per_batch is None


@dataclass(frozen=True, kw_only=True)
class SinkOptions(TableOptions):
    """The options of the sink."""

    delivery_guarantee: Literal["none", "at-least-once", "exactly-once"] = option(
        "sink.delivery-guarantee",
        default="at-least-once",
        deprecated=("sink.semantic",),
        doc="none: does not wait for the brokers. at-least-once: a task waits until the brokers have its records. "
        "exactly-once: a task writes them in a transaction, and not again when the micro-batch is repeated.",
    )
    transactional_id_prefix: str | None = option(
        "sink.transactional-id-prefix",
        default=None,
        doc="With exactly-once: the prefix of the transactional ids of the tasks, <prefix>-<task index>. "
        "Each query needs one of its own, and keeps it.",
    )
    if_in_doubt: Literal["fail", "compare", "write", "skip"] = option(
        "sink.exactly-once.if-in-doubt",
        default="fail",
        doc="The action of a task that cannot find out whether its rows are already written, because Kafka "
        "has forgotten it or the query was changed: fail, write all of them, perhaps twice, or skip all of them. "
        "compare, once in a query of one task that was changed: read the topics back and write what they lack (an "
        "addition).",
    )
    partitioner: str = option(
        "sink.partitioner",
        default="default",
        doc="The partitioner, which chooses the partition of a record: default, fixed, round-robin, another "
        "partitioner plugin, or a class given as module:Class.",
    )
    buffer_max_rows: Annotated[int, Ge(0)] = option(
        "sink.buffer-flush.max-rows",
        default=0,
        doc="With upsert-kafka: how many keys a task buffers. Of several changes of a key it keeps the last, and "
        "writes all when it has that many keys, after sink.buffer-flush.interval, and at its end. With 0 for both, "
        "every change is written.",
    )
    buffer_interval_ms: Annotated[int, Ge(0)] = option(
        "sink.buffer-flush.interval",
        default=0,
        parse=parse_duration_ms,
        doc="With upsert-kafka: how long after the last flush a task flushes its buffer, with the next rows that Spark "
        "hands it. Not with exactly-once, where records become visible only at the task's end. Requires "
        "sink.buffer-flush.max-rows.",
    )
    creates_topics: bool = option(
        "sink.topic.create",
        default=False,
        doc="Whether a write creates those topics of the option topic that do not exist, before it starts; with "
        "upsert-kafka as compacted topics (an addition).",
    )
    created_partitions: Annotated[int, Gt(0)] | None = option(
        "sink.topic.create.partitions",
        default=None,
        doc="The number of partitions of the topics that sink.topic.create creates (an addition). By "
        "default the brokers' num.partitions.",
    )
    created_replication_factor: Annotated[int, Gt(0)] | None = option(
        "sink.topic.create.replication-factor",
        default=None,
        doc="The replication factor of the topics that sink.topic.create creates (an addition). By default "
        "the brokers' default.replication.factor.",
    )
    metrics_address: str | None = option(
        "sink.metrics.address",
        default=None,
        parse=parse_port_address,
        doc="The address of a millrace.SinkMetricsCollector, as host:port, which the driver reports writes to (an "
        "addition); take it from the collector's options. By default nothing is reported.",
    )
    metrics_secret: bytes | None = option(
        "sink.metrics.secret",
        default=None,
        parse=parse_shared_secret,
        doc="The secret of the collector at sink.metrics.address (an addition); take it from the collector's options.",
    )
    register_producer_metrics: bool = option(
        "register.producer.metrics",
        default=True,
        aliases=("properties.register.producer.metrics",),
        doc="Whether a SinkMetricsCollector gets the statistics of the Kafka producers, every 5 seconds unless "
        "properties.statistics.interval.ms says otherwise.",
    )

    @property
    def is_exactly_once(self) -> bool:
        """True when tasks write in transactions."""
        return self.delivery_guarantee == "exactly-once"

    @property
    def is_buffered(self) -> bool:
        """True when tasks keep the latest change of each key until a flush."""
        return self.buffer_max_rows > 0 and self.buffer_interval_ms > 0

    @property
    def is_measured(self) -> bool:
        """True when the driver sends metrics to a listener."""
        return self.metrics_address is not None

    @property
    def waits_for_brokers(self) -> bool:
        """True when a task succeeds only after the brokers have acknowledged its records."""
        return self.delivery_guarantee != "none"
