"""Checks of a write that need the cluster; on the driver, before any task starts."""

from __future__ import annotations

import functools

from millrace.kafka.cluster import Cluster
from millrace.options.secrets import Properties


@functools.lru_cache(maxsize=16)
def check_topics(client: Properties, topics: tuple[str, ...]) -> None:
    """Refuse topics that do not exist. Looked up once per process: Spark makes a writer for every micro-batch.

    Raises:
        UnreachableError, UnknownTopicError: As `Cluster.partition_counts`.
    """
    Cluster(client).partition_counts(topics)
