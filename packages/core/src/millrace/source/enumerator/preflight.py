"""Check on the driver, before any task starts, that the cluster has what a read needs."""

from __future__ import annotations

from millrace.configuration import SourceConfig
from millrace.contracts import DeadLetterCollector
from millrace.kafka.producer import KafkaProducer, producer_settings
from millrace.kafka.write_admin import WriteAdmin
from millrace.options.secrets import Properties


def check_dead_letter_topics(config: SourceConfig) -> None:
    """Refuse topics of the dead letter collector that cannot be written to: see `check_collector_topics`."""
    if config.dead_letter_collector is not None:
        check_collector_topics(config.dead_letter_collector.create(), config.client)


def check_collector_topics(collector: DeadLetterCollector, client: Properties) -> None:
    """Refuse topics of a dead letter collector that cannot be written to.

    Args:
        collector: The collector.
        client: Properties for the Kafka client.

    Raises:
        UnreachableError, UnknownTopicError, ClientError: As `WriteAdmin.check_writable`.
        OptionsError: A producer does not accept the Kafka client's properties.
    """
    if not collector.topics:
        return
    # Created for its validation of the properties only: it does not connect yet
    KafkaProducer(producer_settings(client, idempotent=True))
    admin = WriteAdmin(client)
    for topic, option in collector.topics.items():
        admin.check_writable((topic,), f"dirty-data.collector.{option}")
