"""Committed offsets of several consumer groups, for those who look at a topic."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.kafka.consumer import committed_offsets, new_consumer
from millrace.kafka.errors import client_errors
from millrace.kafka.retry import REQUEST_TIMEOUT_S
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.options.secrets import Properties

_AT_ONCE = 8


def committed_by_groups(
    client: Properties, groups: Collection[str], partitions: Collection[TopicPartition]
) -> dict[str, dict[TopicPartition, int]]:
    """Look up the committed offsets of some groups, for the partitions that each of them has read.

    Each group is asked by a consumer of its own, which joins no group: `KafkaAdmin` says why not by the admin client.

    Raises:
        ClientError: The brokers refused, or did not answer.
    """
    with ThreadPoolExecutor(_AT_ONCE, "millrace-groups") as pool:
        return dict(zip(groups, pool.map(partial(_committed, client, partitions), groups), strict=True))


def _committed(client: Properties, partitions: Collection[TopicPartition], group: str) -> dict[TopicPartition, int]:
    consumer = new_consumer(Properties({**client, "group.id": group, **STATISTICS_OFF}))
    try:
        with client_errors(f"looking up committed offsets of group {group!r}"):
            wanted = [ClientPartition(*place) for place in partitions]
            results = committed_offsets(consumer.client, wanted, REQUEST_TIMEOUT_S)
            return {TopicPartition(one.topic, one.partition): one.offset for one in results if one.offset >= 0}
    finally:
        consumer.close()
