"""Read back the records of an unfinished micro-batch that are in their topics, to write only what is missing."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import pyarrow as pa
from confluent_kafka import TopicPartition as ClientPartition

from millrace.configuration import SinkConfig
from millrace.contracts import Payloads, TopicPartition
from millrace.errors import ClientError, LedgerError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.client_settings import without_producer_properties
from millrace.kafka.consumer import consume_to_end, new_consumer
from millrace.kafka.errors import client_errors
from millrace.kafka.retry import RETRY_TIMEOUT_S, poll
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.kafka.write_admin import write_admin_for
from millrace.options.secrets import Properties
from millrace.options.values import topic_matcher
from millrace.records.producer_records import Headers, ProducerRecords
from millrace.sink.committer.comparable_logs import (
    check_nothing_is_deleted,
    check_topic_is_comparable,
)
from millrace.sink.committer.ledger_store import transactional_id

READ_TIMEOUT_S = 3600.0
"""Time within which the records must have been read."""

OPEN_TRANSACTIONS_TIMEOUT_S = 60.0
"""Time to wait for transactions that were open before: what they hide may be records of the micro-batch."""

_BATCH_SIZE = 5_000
_CONCURRENT_REQUESTS = 8
_DIGEST_SIZE = 16


class CommittedRecords:
    """The records that are in their topics since a time, each as often as it is there.

    Args:
        digests: The digests of the records, see `digest`.
    """

    def __init__(self, digests: Iterable[bytes]) -> None:
        self._counts = Counter(digests)

    def missing(self, records: ProducerRecords) -> ProducerRecords:
        """Select the records that are not there; of equal ones as many as are missing.

        Raises:
            LedgerError: The records have timestamps of their own, by which they are not found.
        """
        if records.timestamps is not None:
            raise LedgerError(
                "'sink.exactly-once.if-in-doubt' = 'compare' finds the records of a micro-batch by the time of their "
                "writing, but these rows give the timestamps of their records"
            )
        keys: Sequence[bytes | None] | repeat[None] = (
            repeat(None, len(records)) if records.keys is None else records.keys.to_list()
        )
        headers = repeat([], len(records)) if records.headers is None else records.headers
        parts = zip(keys, records.values.to_list(), headers, strict=True)
        mask = [self._take(digest(records.topic, *part)) for part in parts]
        return _select(records, [index for index, is_there in enumerate(mask) if not is_there])

    def _take(self, record_digest: bytes) -> bool:
        if not self._counts[record_digest]:
            return False
        self._counts[record_digest] -= 1
        return True


def read_committed_records(config: SinkConfig, task_count: int, own_index: int, began_ms: int) -> CommittedRecords:
    """Read the records that have been written to the sink's topics since a time, and are committed.

    Args:
        config: The sink's configuration.
        task_count: The number of tasks whose transactions are ended before: they hide what was committed after them.
        own_index: The task that does this, which has a transaction of its own.
        began_ms: The time, in ms since 1970.

    Raises:
        LedgerError: Transactions are open in the topics that are not the tasks', or the topics may lack records that
            were written.
        ClientError: The brokers refuse, or do not answer.
    """

    def take_over(index: int) -> None:
        TransactionalProducer(config.client, transactional_id(config, index)).init_transactions()

    with ThreadPoolExecutor(_CONCURRENT_REQUESTS, "millrace-transaction") as pool:
        list(pool.map(take_over, (index for index in range(task_count) if index != own_index)))
    client = Properties({**without_producer_properties(config.client), "isolation.level": "read_committed"})
    admin = KafkaAdmin(client, RETRY_TIMEOUT_S)
    partitions = _partitions(config, admin)
    settings = write_admin_for(config.client)
    for topic in {partition.topic for partition in partitions}:
        check_topic_is_comparable(topic, settings.topic_config(topic))
    ends = admin.high_watermarks(partitions)

    def hidden() -> list[TopicPartition]:
        return [partition for partition, end in admin.end(partitions).items() if end < ends[partition]]

    in_transactions = poll(hidden, lambda remaining: not remaining, timeout_s=OPEN_TRANSACTIONS_TIMEOUT_S)
    if in_transactions:
        first = in_transactions[0]
        raise LedgerError(
            f"transactions are open in {', '.join(map(str, in_transactions[:10]))}, which hide what the micro-batch "
            f"has written already. Stop the producers that write in them, or wait until the brokers abort them after "
            f"transaction.timeout.ms, and start again. To see the producers: kafka-transactions.sh --bootstrap-server "
            f"HOST:PORT describe-producers --topic {first.topic} --partition {first.partition}"
        )
    starts = admin.at_timestamp(partitions, began_ms)
    check_nothing_is_deleted(admin.begin(partitions), starts, began_ms)
    return CommittedRecords(_digests(client, starts, ends))


def digest(topic: str, key: bytes | None, value: bytes | None, headers: Headers | None) -> bytes:
    """Return a digest of a record."""
    hasher = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    names_and_values = (part for name, header_value in headers or () for part in (name.encode(), header_value))
    for part in (topic.encode(), key, value, *names_and_values):
        hasher.update(b"-" if part is None else b"%d:" % len(part))
        hasher.update(part or b"")
    return hasher.digest()


def _partitions(config: SinkConfig, admin: KafkaAdmin) -> list[TopicPartition]:
    names: Sequence[str] = config.options.topics
    if config.options.topic_pattern is not None:
        names = list(filter(topic_matcher(config.options.topic_pattern), admin.topic_names()))
    topics = admin.topics(names)
    return [TopicPartition(name, number) for name, topic in topics.items() for number in range(topic.partitions)]


def _digests(client: Properties, starts: dict[TopicPartition, int], ends: dict[TopicPartition, int]) -> Iterable[bytes]:
    unread = {partition for partition, start in starts.items() if start < ends[partition]}
    if not unread:
        return
    consumer = new_consumer(client)
    try:
        with client_errors("reading back what is written"):
            assigned = [ClientPartition(*partition, starts[partition]) for partition in sorted(unread)]
            consumer.client.assign(assigned)
            for partition, message in consume_to_end(consumer.client, _BATCH_SIZE, timeout_s=READ_TIMEOUT_S):
                if message is not None and (message.offset() or 0) < ends[partition]:
                    headers = [(name, value) for name, value in message.headers() or ()]
                    yield digest(partition.topic, message.key(), message.value(), headers)
                if message is None or (message.offset() or 0) >= ends[partition] - 1:
                    unread.discard(partition)
                    if not unread:
                        return
    finally:
        consumer.close()
    raise ClientError(f"what is written could not be read back within {READ_TIMEOUT_S:.0f} s")


def _select(records: ProducerRecords, indices: list[int]) -> ProducerRecords:
    if len(indices) == len(records):
        return records
    chosen = pa.array(indices, pa.int64())
    values, keys = records.values.to_list(), None if records.keys is None else records.keys.to_list()
    return ProducerRecords(
        records.topic,
        Payloads([values[index] for index in indices]),
        None if keys is None else Payloads([keys[index] for index in indices]),
        None if records.headers is None else [records.headers[index] for index in indices],
        None if records.partitions is None else records.partitions.take(chosen),
        None,
        records.partition_column,
    )
