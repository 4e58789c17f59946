"""Checks of a read that need the cluster; on the driver, before any task starts."""

from __future__ import annotations

from millrace.configuration import SourceConfig
from millrace.kafka.producer import WatchedProducer, producer_settings
from millrace.kafka.write_admin import WriteAdmin


def check_dead_letters(config: SourceConfig) -> None:
    """Refuse a topic for malformed messages that these cannot be written to.

    Raises:
        UnreachableError, UnknownTopicError, ClientError: As `WriteAdmin.check_writable`.
        OptionsError: A producer does not accept the Kafka client's properties.
    """
    topic = config.options.dead_letter_topic
    if topic is None:
        return
    # Made and dropped: it talks to no broker before it is told to
    WatchedProducer(producer_settings(config.client, idempotent=True))
    WriteAdmin(config.client).check_writable((topic,), "dirty-data.collector.topic")
