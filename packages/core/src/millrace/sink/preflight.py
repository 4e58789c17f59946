"""Checks of a write that need the cluster; on the driver, before any task starts."""

from __future__ import annotations

import dataclasses
import functools
import logging

from millrace.configuration import SinkConfig
from millrace.errors import OptionsError
from millrace.kafka.producer import KafkaProducer, producer_settings
from millrace.kafka.write_admin import write_admin_for
from millrace.options.secrets import Properties
from millrace.sink.writer.topic_routing import check_pattern_matches

logger = logging.getLogger("millrace.sink")

TIMEOUT = "transaction.timeout.ms"

DEFAULT_TIMEOUT_MS = 3_600_000
"""As the reference; a task that takes longer than its transaction may is failed by the brokers."""

BROKERS_DEFAULT_MS = 900_000
"""The brokers' maximum unless they are told another one; taken for it when they may not be asked."""


def prepare(config: SinkConfig, patience_s: float | None = None) -> SinkConfig:
    """Refuse what would fail in the middle of a write, and answer how to write.

    Looked up once per process: Spark makes a writer for every micro-batch. Only topics that are to be created when they
    are missing are looked up each time.

    Args:
        config: How the user wants to write.
        patience_s: How long to wait for brokers that do not answer; by default so that a wrong address shows soon.

    Raises:
        UnreachableError, UnknownTopicError: As `KafkaAdmin.topics`.
        ClientError: The client may not write to a topic, or not create one that it shall create.
        OptionsError: The Kafka client does not accept its properties, or the brokers do not.
    """
    options = config.options
    if options.creates_topics:
        target = write_admin_for(config.client, patience_s)
        target.create_missing(options.topics, options.created_partitions, options.created_replication_factor)
    return _prepare(config, patience_s)


@functools.lru_cache(maxsize=16)
def _prepare(config: SinkConfig, patience_s: float | None) -> SinkConfig:
    options, client = config.options, config.client
    transactional = {"transactional.id": f"{options.transactional_id_prefix}-0"} if options.is_exactly_once else {}
    # Made and dropped: it talks to no broker before it is told to
    KafkaProducer({**producer_settings(client, idempotent=options.waits_for_brokers), **transactional})
    target = write_admin_for(client, patience_s)
    target.check_writable(options.topics)
    if options.topic_pattern is not None:
        check_pattern_matches(options.topic_pattern, target.topic_names())
    if not options.is_exactly_once:
        return config
    timeout_ms = _timeout_ms(client, target.broker_config("transaction.max.timeout.ms"))
    return dataclasses.replace(config, client=Properties({**client, TIMEOUT: str(timeout_ms)}))


def _timeout_ms(client: Properties, most: str | None) -> int:
    most_ms = BROKERS_DEFAULT_MS if most is None else int(most)
    if TIMEOUT not in client:
        if most_ms < DEFAULT_TIMEOUT_MS:
            logger.warning(
                "a transaction may take %d s, which is what the brokers allow ('transaction.max.timeout.ms'); a task "
                "that takes longer fails",
                most_ms // 1000,
            )
        return min(DEFAULT_TIMEOUT_MS, most_ms)
    wanted_ms = int(client[TIMEOUT])
    if wanted_ms > most_ms:
        raise OptionsError(
            "sink",
            (
                f"option 'properties.{TIMEOUT}': the brokers allow {most_ms} at most ('transaction.max.timeout.ms'), "
                f"got {wanted_ms}",
            ),
        )
    return wanted_ms
