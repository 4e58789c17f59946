"""Check a write against the cluster, on the driver, before any task starts."""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections.abc import Mapping

from millrace.configuration import SinkConfig
from millrace.errors import OptionsError
from millrace.kafka.client_settings import client_settings
from millrace.kafka.diskless import DISKLESS, check_transactions, is_diskless
from millrace.kafka.group_coordinators import can_lose_offsets
from millrace.kafka.producer import KafkaProducer, producer_settings
from millrace.kafka.topic_limits import with_fitting_batches
from millrace.kafka.write_admin import WriteAdmin, write_admin_for
from millrace.options.secrets import Properties
from millrace.options.values import topic_matcher
from millrace.sink.committer.ledger_store import check_without_members
from millrace.sink.writer.topic_routing import check_pattern_matches

logger = logging.getLogger("millrace.sink")

TRANSACTION_TIMEOUT = "transaction.timeout.ms"
MAX_TRANSACTION_TIMEOUT = "transaction.max.timeout.ms"

CLEANUP_POLICY, COMPACT = "cleanup.policy", "compact"

OFFSETS_RETENTION = "offsets.retention.minutes"

DEFAULT_TRANSACTION_TIMEOUT_MS = 3_600_000
"""The reference connector's default; the brokers abort a transaction that takes longer, which fails its task."""

DEFAULT_MAX_TRANSACTION_TIMEOUT_MS = 900_000
"""The brokers' default for the maximum; assumed when this client may not read their configuration."""


def prepare(config: SinkConfig, connect_timeout_s: float | None = None) -> SinkConfig:
    """Create missing topics if that is wanted, refuse what would fail during the write, and complete its configuration.

    The checks are made once per process, since Spark creates a writer for every micro-batch. Topics to be created are
    looked up each time.

    Args:
        config: The sink's configuration.
        connect_timeout_s: How long to wait for brokers that do not answer, in seconds; by default so short that a wrong
            address shows soon.

    Returns:
        The configuration with the timeout of its transactions, if it has any, what brokers do with their ledgers, and
        batches that the topics take.

    Raises:
        UnreachableError, UnknownTopicError: As `KafkaAdmin.topics`.
        ClientError: The client may not write to a topic, or not create one that it shall create.
        GroupInUseError: A consumer group that ledgers are kept in has live members.
        OptionsError: The Kafka client or the brokers do not accept the client's properties.
    """
    options = config.options
    if options.creates_topics:
        admin = write_admin_for(config.client, connect_timeout_s)
        settings = {CLEANUP_POLICY: COMPACT} if options.is_upsert else None
        admin.create_missing(options.topics, options.created_partitions, options.created_replication_factor, settings)
    return check_and_complete(config, connect_timeout_s)


@functools.lru_cache(maxsize=16)
def check_and_complete(config: SinkConfig, connect_timeout_s: float | None = None) -> SinkConfig:
    """Refuse what would fail during a write, and complete its configuration: see `prepare`, which creates topics."""
    options, client = config.options, config.client
    transactional_id = f"{options.transactional_id_prefix}-0" if options.is_exactly_once else None
    # The client checks its properties when it is created; it is dropped before it connects
    KafkaProducer(producer_settings(client, idempotent=options.waits_for_brokers, transactional_id=transactional_id))
    admin = write_admin_for(client, connect_timeout_s)
    admin.check_writable(options.topics)
    topics = admin.topic_configs(_known_topics(config, admin))
    check_transactions(topics, is_exactly_once=options.is_exactly_once)
    if options.is_upsert:
        _tell_if_not_compacted(options.topics[0], topics[options.topics[0]])
    client = with_fitting_batches(client, topics)
    config = dataclasses.replace(config, client=client)
    if not options.is_exactly_once:
        return config
    check_without_members(config, admin.groups())
    broker_config = admin.broker_config(MAX_TRANSACTION_TIMEOUT, OFFSETS_RETENTION)
    timeout_ms = _transaction_timeout_ms(client, broker_config.get(MAX_TRANSACTION_TIMEOUT))
    completed = dataclasses.replace(
        config,
        client=Properties({**client, TRANSACTION_TIMEOUT: str(timeout_ms)}),
        can_lose_ledgers=can_lose_offsets(admin.brokers(), client_settings(client)),
    )
    if OFFSETS_RETENTION not in broker_config:
        return completed
    return dataclasses.replace(completed, ledger_retention_s=int(broker_config[OFFSETS_RETENTION]) * 60.0)


def _known_topics(config: SinkConfig, admin: WriteAdmin) -> list[str]:
    """Return the topics that the options name; rows may name others where the options name none."""
    pattern = config.options.topic_pattern
    if pattern is None:
        return list(config.options.topics)
    existing = admin.topic_names()
    check_pattern_matches(pattern, existing)
    return list(filter(topic_matcher(pattern), existing))


def _tell_if_not_compacted(topic: str, settings: Mapping[str, str]) -> None:
    policy = settings.get(CLEANUP_POLICY, COMPACT)
    if is_diskless(settings):
        logger.info("topic %r cannot be compacted (%s = true): it loses rows after its retention", topic, DISKLESS)
    elif COMPACT not in policy.split(","):
        logger.info(
            "topic %r is not compacted (%s = %s): it loses rows that were not written for its retention; set '%s' to "
            "'%s' to keep the latest row of each key",
            topic,
            CLEANUP_POLICY,
            policy,
            CLEANUP_POLICY,
            COMPACT,
        )


def _transaction_timeout_ms(client: Properties, broker_maximum: str | None) -> int:
    maximum_ms = DEFAULT_MAX_TRANSACTION_TIMEOUT_MS if broker_maximum is None else int(broker_maximum)
    if TRANSACTION_TIMEOUT not in client:
        if maximum_ms < DEFAULT_TRANSACTION_TIMEOUT_MS:
            logger.info(
                "a transaction may take %d s, which is what the brokers allow ('transaction.max.timeout.ms'); a task "
                "that takes longer fails",
                maximum_ms // 1000,
            )
        return min(DEFAULT_TRANSACTION_TIMEOUT_MS, maximum_ms)
    requested_ms = int(client[TRANSACTION_TIMEOUT])
    if requested_ms > maximum_ms:
        problem = (
            f"option 'properties.{TRANSACTION_TIMEOUT}': the brokers allow {maximum_ms} at most "
            f"('{MAX_TRANSACTION_TIMEOUT}'), got {requested_ms}"
        )
        raise OptionsError("sink", (problem,))
    return requested_ms
