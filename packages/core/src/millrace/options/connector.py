"""The options of the Kafka source and sink: names, types, defaults and documentation.

Names, defaults and values are those of the reference connectors; what millrace adds is marked as an addition.
One set of options serves both directions, as one table of the reference does: each side reads its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt

from millrace.options.field import option
from millrace.options.ranges import RangeOptions
from millrace.options.shared import TableOptions
from millrace.options.values import (
    parse_address,
    parse_columns,
    parse_duration_ms,
    parse_folder,
    parse_port_address,
    parse_share,
    parse_shared_secret,
)


@dataclass(frozen=True, kw_only=True)
class SourceOptions(RangeOptions):
    """The options of the source."""

    table_name: str | None = option(
        "table-name",
        default=None,
        doc="The name of the SQL table or view that is read, because Spark does not pass it to a data source (an "
        "addition). It makes KafkaSource-<name> the default of properties.group.id.",
    )
    client_id_prefix: str | None = option(
        "client.id.prefix",
        default=None,
        aliases=("properties.client.id.prefix",),
        doc="The prefix of the source's client ids, followed by host and process. The default is millrace. "
        "properties.client.id sets the whole id and takes precedence.",
    )
    register_consumer_metrics: bool = option(
        "register.consumer.metrics",
        default=True,
        aliases=("properties.register.consumer.metrics",),
        doc="Whether a query's metrics include the statistics of its Kafka consumers, every 5 seconds unless "
        "properties.statistics.interval.ms sets another interval.",
    )
    check_duplicated_group: bool = option(
        "scan.check.duplicated.group.id",
        default=False,
        doc="Whether a query refuses to start while properties.group.id has live members or is used by another "
        "running millrace query.",
    )
    max_records_per_batch: Annotated[int, Gt(0)] | None = option(
        "scan.max-records-per-batch",
        default=None,
        aliases=("maxOffsetsPerTrigger",),
        doc="The maximum number of records in a micro-batch (an addition). By default there is no limit, except that "
        "an upsert table with old rows reads at most 500,000 records of each partition.",
    )
    max_bytes_per_batch: Annotated[int, Gt(0)] | None = option(
        "scan.max-bytes-per-batch",
        default=None,
        aliases=("maxBytesPerTrigger",),
        doc="The approximate maximum size of a micro-batch: bytes of keys and values, estimated from samples (an "
        "addition). By default there is no limit.",
    )
    min_records_per_batch: Annotated[int, Gt(0)] | None = option(
        "scan.min-records-per-batch",
        default=None,
        aliases=("minOffsetsPerTrigger",),
        doc="The number of records to wait for before a micro-batch starts, but no longer than scan.max-batch-delay "
        "(an addition). The default is one.",
    )
    max_batch_delay_ms: int = option(
        "scan.max-batch-delay",
        default=900_000,
        parse=parse_duration_ms,
        aliases=("maxTriggerDelay",),
        doc="How long scan.min-records-per-batch can delay a micro-batch, counted from the previous one (an addition).",
    )
    parallelism: Annotated[int, Gt(0)] | None = option(
        "scan.parallelism",
        default=None,
        aliases=("minPartitions",),
        doc="The minimum number of tasks that read, if there are enough records; partitions are divided if necessary. "
        "By default, a large partition has one task, or several from about a million records, and small partitions "
        "share one.",
    )
    max_records_per_split: Annotated[int, Gt(0)] | None = option(
        "scan.split.max-records",
        default=None,
        aliases=("maxRecordsPerPartition",),
        doc="The maximum number of records that one task reads (an addition). At most one million.",
    )
    fail_on_data_loss: bool = option(
        "scan.fail-on-data-loss",
        default=True,
        aliases=("failOnDataLoss",),
        doc="Whether a query fails if records that it has not read, or their partition or topic, no longer exist. If "
        "false, it logs a warning, counts the missing records, and continues with the remaining ones (an addition).",
    )
    max_drift_ms: Annotated[int, Gt(0)] | None = option(
        "scan.watermark.alignment.max-drift",
        default=None,
        parse=parse_duration_ms,
        doc="Aligned reading: the maximum time span of the records in a micro-batch, by their timestamps. It keeps "
        "any partition from being read far ahead of the others, so that a watermark does not drop their rows as late. "
        "Off by default.",
    )
    idle_timeout_ms: int | None = option(
        "scan.watermark.idle-timeout",
        default=None,
        parse=parse_duration_ms,
        aliases=("table.exec.source.idle-timeout",),
        doc="Aligned reading: how long a partition without new records holds back the others; 0 means forever. By "
        "default it does not hold them back at all (in the reference, forever).",
    )
    discovery_interval_ms: int = option(
        "scan.topic-partition-discovery.interval",
        default=300_000,
        parse=parse_duration_ms,
        aliases=("partition.discovery.interval.ms", "properties.partition.discovery.interval.ms"),
        doc="How often a stream looks for new topics and partitions. 0 or less turns this off.",
    )
    header_filter: str | None = option(
        "scan.header-filter",
        default=None,
        doc="Read only records whose headers match this expression, such as depart:toy|depart:book&!env:test.",
    )
    filter_language: str = option(
        "scan.filter.language",
        default="expression",
        doc="The language of scan.header-filter: the name of a header filter plugin (an addition).",
    )
    ignore_errors: bool = option(
        "ingestion.ignore-errors",
        default=False,
        doc="Whether messages that cannot be decoded are skipped and counted. If false, the first one ends the query "
        "with an error.",
    )
    max_errors: Annotated[int, Ge(-1)] = option(
        "ingestion.error-tolerance.max-count",
        default=-1,
        doc="With ingestion.ignore-errors: how many malformed messages a query tolerates; one more ends it. -1 means "
        "any number. A stream counts those of all tasks and micro-batches since its start, a batch those of each task "
        "separately.",
    )
    max_error_ratio: float | None = option(
        "dirty-data.max-ratio",
        default=None,
        parse=parse_share,
        doc="With ingestion.ignore-errors: the largest share of malformed messages that a query tolerates, such as "
        "0.01, once it has read 100 messages. A task compares it when it ends: in a stream for all messages since its "
        "start, in a batch for its own (an addition).",
    )
    max_consecutive_errors: Annotated[int, Ge(0)] | None = option(
        "dirty-data.max-consecutive",
        default=None,
        doc="With ingestion.ignore-errors: how many malformed messages one after another in a partition a query "
        "tolerates: in a stream across tasks and micro-batches, in a batch in each task separately (an addition).",
    )
    dirty_collector: str | None = option(
        "dirty-data.collector",
        default=None,
        aliases=("dirty-data.collector.type",),
        doc="With ingestion.ignore-errors: where malformed messages go. logger writes them to the executor's log, "
        "topic (an addition) to a topic; other names are dead letter collector plugins, whose options are "
        "dirty-data.collector.<option>. By default they are only counted.",
    )
    sampled_messages: Annotated[int, Ge(0)] = option(
        "scan.max.pre.fetch.records",
        default=50,
        doc="The number of messages, the newest ones of each partition, from which columns are inferred. Columns are "
        "inferred if you declare none and the format supports it, as json does. With 0, no message is read, and the "
        "columns come from json.infer-schema.fixed-types.",
    )
    max_inferred_columns: Annotated[int, Gt(0)] = option(
        "infer-schema.max-columns",
        default=2_000,
        doc="The maximum number of inferred columns, including nested fields. A topic with more is an error (an "
        "addition).",
    )
    primary_key: tuple[str, ...] = option(
        "changelog.primary-key",
        default=(),
        parse=parse_columns,
        doc="With a change data format: the columns of the primary key, separated by ';'. The query then gets exact "
        "changes even if messages repeat events, lack old rows, or start in the middle: events that change nothing "
        "are dropped, the first row of a key is +I, and old rows come from the query's state. All messages of a key "
        "must be in the same partition, as change data tools write them (an addition; in SQL, PRIMARY KEY with "
        "table.exec.source.cdc-events-duplicate).",
    )
    changelog_mode: Literal["retract", "upsert"] = option(
        "changelog.mode",
        default="retract",
        doc="With upsert-kafka: the kinds of changes in a stream. retract: +I, -U, +U and -D, where -U and -D have "
        "all columns of the old row, which the query keeps as state. upsert: +U for new and changed rows and -D with "
        "the key columns only, which needs no state, so a stream can start anywhere. A batch has the current rows of "
        "the table with retract, and the last change of each key with upsert. As in Confluent's Flink (an addition).",
    )
    state_location: str | None = option(
        "state.checkpoints.dir",
        default=None,
        parse=parse_folder,
        doc="With upsert-kafka or changelog.primary-key: the folder for the state of a stream, as a path or URI that "
        "the driver and all executors can reach: hdfs, s3, gs or a shared disk. Each query needs its own. Required "
        "unless changelog.mode = upsert.",
    )
    retained_micro_batches: Annotated[int, Gt(0)] = option(
        "state.checkpoints.num-retained",
        default=100,
        doc="With state.checkpoints.dir: how many micro-batches the state of a partition can go back. At least "
        "Spark's setting spark.sql.streaming.minBatchesToRetain.",
    )
    state_backend: str = option(
        "state.backend",
        default="lmdb",
        aliases=("state.backend.type",),
        doc="With upsert-kafka or changelog.primary-key: the state backend, which keeps state on the local disks of "
        "executors: lmdb, or another plugin, whose options are state.backend.<option>.",
    )
    metrics_address: str = option(
        "scan.metrics.address",
        default="127.0.0.1",
        parse=parse_address,
        doc="The address on the driver's machine, as host or host:port, to which executors send metrics (an "
        "addition). The default works if the executors run on the same machine. Empty turns metrics off.",
    )
    filter_pushdown: bool = option(
        "scan.filter-pushdown",
        default=False,
        doc="Whether a batch reads only the offsets that its filters on topic, partition, offset, timestamp and key "
        "need (an addition). Requires spark.sql.python.filterPushdown.enabled = true and a load for each query: Spark "
        "4.2 and 4.3 read all queries over one load as they planned the last one with filters. SQL does so by itself "
        "where that is safe, unless it is false; streams ignore it.",
    )
    max_disorder_ms: Annotated[int, Ge(0)] | None = option(
        "scan.filter-pushdown.max-disorder",
        default=None,
        parse=parse_duration_ms,
        doc="With scan.filter-pushdown: by how much a timestamp can be before that of an earlier record of its "
        "partition; 0 s if timestamps ascend. A read then ends at the last time that its filters allow, and else at "
        "the end of the log (an addition). Topics with message.timestamp.type = LogAppendTime need it, too.",
    )
    key_partitioner: str | None = option(
        "scan.filter-pushdown.key-partitioner",
        default=None,
        doc="With scan.filter-pushdown: the partitioner that wrote all messages of the topic, for as many partitions "
        "as it has now, so that a filter such as key = X'01' reads one partition: default for that of Kafka's "
        "clients, or a partitioner plugin that decides by the key (an addition).",
    )
    filter_report: str | None = option(
        "scan.filter-pushdown.report",
        default=None,
        doc="With scan.filter-pushdown: a file of the driver for the filters that change the offsets (an addition).",
    )
    include_headers: bool = option(
        "includeHeaders",
        default=False,
        doc="Without a format: adds the column headers, like Spark's own connector.",
    )

    @property
    def has_primary_key(self) -> bool:
        """True when the topic is read as a table whose rows have keys."""
        return self.is_upsert or bool(self.primary_key)

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
        doc="none: a task does not wait for the brokers. at-least-once: a task waits until the brokers have "
        "acknowledged its records. exactly-once: a task writes its records in a transaction, and a repeated "
        "micro-batch does not write them again.",
    )
    transactional_id_prefix: str | None = option(
        "sink.transactional-id-prefix",
        default=None,
        doc="With exactly-once: the prefix of the tasks' transactional ids, <prefix>-<task index>. Each query needs "
        "its own and must keep it.",
    )
    if_in_doubt: Literal["fail", "compare", "write", "skip"] = option(
        "sink.exactly-once.if-in-doubt",
        default="fail",
        doc="What a task does if it cannot determine whether its rows were written, because Kafka no longer has its "
        "ledger or the query was changed: fail, write all rows, some perhaps twice, or skip all rows. compare reads "
        "the topics and writes only the missing rows, in a query that was changed to have a single task (an "
        "addition).",
    )
    compare_by: Literal["records", "count"] = option(
        "sink.exactly-once.compare-by",
        default="records",
        doc="How a task recognizes the rows of a repeated micro-batch that it has written: by a digest of their "
        "records, or by their number alone. Choose count if columns have other values each time that they are "
        "computed, such as uuid() (an addition).",
    )
    partitioner: str = option(
        "sink.partitioner",
        default="default",
        doc="The partitioner, which chooses the partition of a record: default, fixed, round-robin, another "
        "partitioner plugin, or a class as module:Class.",
    )
    buffer_max_rows: Annotated[int, Ge(0)] = option(
        "sink.buffer-flush.max-rows",
        default=0,
        doc="With upsert-kafka: how many keys a task buffers. The buffer keeps the last change of each key. It is "
        "written when it is full, after sink.buffer-flush.interval, and at the end of the task. With 0 for both "
        "options, every change is written.",
    )
    buffer_interval_ms: Annotated[int, Ge(0)] = option(
        "sink.buffer-flush.interval",
        default=0,
        parse=parse_duration_ms,
        doc="With upsert-kafka: the time after which a task writes its buffer, when Spark passes it the next rows. "
        "Requires sink.buffer-flush.max-rows. It has no effect with exactly-once, where records become visible only "
        "at the end of the task.",
    )
    creates_topics: bool = option(
        "sink.topic.create",
        default=False,
        doc="Whether a write first creates the topics of the option topic that do not exist; with upsert-kafka, as "
        "compacted topics (an addition).",
    )
    created_partitions: Annotated[int, Gt(0)] | None = option(
        "sink.topic.create.partitions",
        default=None,
        doc="The number of partitions of topics that sink.topic.create creates (an addition). The default is the "
        "brokers' num.partitions.",
    )
    created_replication_factor: Annotated[int, Gt(0)] | None = option(
        "sink.topic.create.replication-factor",
        default=None,
        doc="The replication factor of topics that sink.topic.create creates (an addition). The default is the "
        "brokers' default.replication.factor.",
    )
    metrics_address: str | None = option(
        "sink.metrics.address",
        default=None,
        parse=parse_port_address,
        doc="The address, as host:port, of a millrace.SinkMetricsCollector that the driver reports writes to (an "
        "addition). The collector's options contain it. By default nothing is reported.",
    )
    metrics_secret: bytes | None = option(
        "sink.metrics.secret",
        default=None,
        parse=parse_shared_secret,
        doc="The secret of the collector at sink.metrics.address (an addition). The collector's options contain it.",
    )
    register_producer_metrics: bool = option(
        "register.producer.metrics",
        default=True,
        aliases=("properties.register.producer.metrics",),
        doc="Whether a SinkMetricsCollector gets the statistics of the Kafka producers, every 5 seconds unless "
        "properties.statistics.interval.ms sets another interval.",
    )

    @property
    def is_digested(self) -> bool:
        """True if ledgers have a digest of records: not where those depend on the order in which rows come."""
        return self.is_exactly_once and self.compare_by == "records" and not self.is_buffered

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
