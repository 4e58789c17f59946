"""Check on the driver, before any task starts, that the cluster has what a read needs."""

from __future__ import annotations

from millrace.configuration import SourceConfig
from millrace.kafka.producer import KafkaProducer, producer_settings
from millrace.kafka.write_admin import WriteAdmin


def check_dead_letter_topics(config: SourceConfig) -> None:
    """Refuse topics of the dead letter collector that cannot be written to.

    Raises:
        UnreachableError, UnknownTopicError, ClientError: As `WriteAdmin.check_writable`.
        OptionsError: A producer does not accept the Kafka client's properties.
    """
    topics = {} if config.dead_letter_collector is None else config.dead_letter_collector.create().topics
    if not topics:
        return
    # Created for its validation of the properties only: it does not connect yet
    KafkaProducer(producer_settings(config.client, idempotent=True))
    admin = WriteAdmin(config.client)
    for topic, option in topics.items():
        admin.check_writable((topic,), f"dirty-data.collector.{option}")
