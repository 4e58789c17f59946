"""Read a split on an executor: fetch, filter by headers, build record batches."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator

import pyarrow as pa

from millrace.configuration import SourceConfig
from millrace.gc_control import garbage_collection_paused
from millrace.kafka.consumer import KafkaConsumer, consumer_for, new_consumer
from millrace.kafka.fetch_sizes import FetchSizes, for_ranges, many_at_once
from millrace.kafka.statistics import FetchPositions
from millrace.options.secrets import Properties
from millrace.records.messages import Messages
from millrace.source.reader.decoding_plan import record_batch_builder_for
from millrace.source.reader.error_policy import ErrorPolicy
from millrace.source.reader.fetch import fetch
from millrace.source.reader.header_filter import filter_by_headers, load_header_filter
from millrace.source.reader.kept_messages import kept_messages_of_executor
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import Split
from millrace.worker import RESOURCES, WorkerResources

_ENOUGH_BYTES, _ENOUGH_MESSAGES = 64 * 1024, 1_000
"""Messages are joined until they are as many, or their values as large: each batch takes time, however small it is."""

MANY_MESSAGES = 20_000
"""Offsets of a range, from which its messages are fetched many at a time."""


def read_split(
    config: SourceConfig,
    schema: pa.Schema,
    zone: str,
    split: Split,
    metrics: SplitMetrics,
    error_policy: ErrorPolicy,
    resources: WorkerResources = RESOURCES,
) -> Generator[pa.RecordBatch]:
    """Yield the rows of a split, in batches of exactly ``schema``.

    Args:
        config: How to read.
        schema: The query's columns.
        zone: The time zone of text that has none.
        split: What to read.
        metrics: Where to count what was read.
        error_policy: Handles malformed messages.
        resources: Keeps the consumers, each of which reads one split at a time.

    Raises:
        DataLossError, ClientError: As `fetch`.
        MessageError, DeliveryError: As `ErrorPolicy`.
    """
    # Clients of queries that have ended may be kept, and what they report would pile up
    resources.begin_task()
    fetch_split = split_fetcher(config, metrics, resources)
    if config.options.has_primary_key:
        return read_table(fetch_split, config, schema, zone, split, metrics, error_policy)
    return build_record_batches(fetch_split(split), config, schema, zone, metrics, error_policy)


def consumer_of_split(client: Properties, split: Split, resources: WorkerResources = RESOURCES) -> KafkaConsumer:
    """Return the worker's consumer for a split: another one for ranges of many messages than for others.

    Args:
        client: Properties for the Kafka client.
        split: What to read.
        resources: Keeps the consumers.
    """
    return consumer_for(_fetch_sizes(client, split).properties, resources)


def _fetch_sizes(client: Properties, split: Split) -> FetchSizes:
    if any(range_.log and range_.log.goes_on for range_ in split.ranges):
        return for_ranges(
            client, [len(range_) * (range_.log.value_bytes if range_.log else 0) for range_ in split.ranges]
        )
    has_many = len(split.ranges) == 1 and len(split.ranges[0]) >= MANY_MESSAGES
    return FetchSizes(many_at_once(client) if has_many else client)


def split_fetcher(
    config: SourceConfig, metrics: SplitMetrics, resources: WorkerResources = RESOURCES
) -> Callable[[Split], Iterable[Messages]]:
    """Return what fetches a split's messages by a consumer that is kept: see `fetch`."""

    def fetch_split(split: Split) -> Iterable[Messages]:
        # Spark asks for a partition, and so for an empty split, even where there is nothing to read
        if not split.ranges:
            return ()
        sizes = _fetch_sizes(config.client, split)
        return fetch(
            consumer_for(sizes.properties, resources),
            split,
            metrics,
            fail_on_data_loss=config.options.fail_on_data_loss,
            new_follower=lambda: new_consumer(sizes.properties, FetchPositions()),
            fetches_singly=sizes.is_single,
            store=kept_messages_of_executor(config.client),
        )

    return fetch_split


def read_table(
    fetch_split: Callable[[Split], Iterable[Messages]],
    config: SourceConfig,
    schema: pa.Schema,
    zone: str,
    split: Split,
    metrics: SplitMetrics,
    error_policy: ErrorPolicy,
) -> Generator[pa.RecordBatch]:
    """Yield the rows of a split of a table with a primary key: see `read_split`."""
    from millrace.source.reader.table_changes import TableReader

    with garbage_collection_paused():
        yield from TableReader(config, schema, zone, fetch_split, metrics, error_policy).read(split)


def build_record_batches(
    fetched: Iterable[Messages],
    config: SourceConfig,
    schema: pa.Schema,
    zone: str,
    metrics: SplitMetrics,
    error_policy: ErrorPolicy,
) -> Generator[pa.RecordBatch]:
    """Yield the rows of fetched messages: see `read_split`."""
    header_filter = load_header_filter(config.header_filter)
    build = record_batch_builder_for(config, schema, zone)
    with garbage_collection_paused():
        for parts in _joined(filter_by_headers(header_filter, messages) for messages in fetched):
            messages = Messages.joined(parts)
            built = build(messages)
            error_policy.handle(messages, built.malformed)
            for part in parts:
                metrics.emitted(part.partition, part.items)
            yield built.batch
        error_policy.finish()


def _joined(fetched: Iterable[Messages]) -> Iterator[list[Messages]]:
    """Group messages for batches of rows that are worth their time."""
    parts: list[Messages] = []
    count = size = 0
    for messages in fetched:
        if messages.items:
            parts.append(messages)
            count += len(messages.items)
            size += sum(map(len, messages.items)) if count < _ENOUGH_MESSAGES else 0
        if count >= _ENOUGH_MESSAGES or size >= _ENOUGH_BYTES:
            yield parts
            parts, count, size = [], 0, 0
    if parts:
        yield parts
