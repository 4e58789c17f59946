"""Checks of a write that need the cluster; on the driver, before any task starts."""

from __future__ import annotations

import functools

from millrace.kafka.cluster import Cluster
from millrace.kafka.producer import WatchedProducer, producer_settings
from millrace.options.secrets import Properties


@functools.lru_cache(maxsize=16)
def check_target(client: Properties, topics: tuple[str, ...], *, idempotent: bool) -> None:
    """Refuse topics that do not exist, and properties that the producer would not accept.

    Looked up once per process: Spark makes a writer for every micro-batch.

    Raises:
        UnreachableError, UnknownTopicError: As `Cluster.topics`.
        OptionsError: The Kafka client does not accept its properties.
    """
    WatchedProducer(producer_settings(client, idempotent=idempotent))
    Cluster(client).topics(topics)
