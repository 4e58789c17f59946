"""Check on the driver, before any task starts, that the cluster has what a read needs."""

from __future__ import annotations

from millrace.configuration import SourceConfig
from millrace.kafka.producer import KafkaProducer, producer_settings
from millrace.kafka.write_admin import WriteAdmin


def check_dead_letter_topic(config: SourceConfig) -> None:
    """Refuse a dead letter topic that cannot be written to.

    Raises:
        UnreachableError, UnknownTopicError, ClientError: As `WriteAdmin.check_writable`.
        OptionsError: A producer does not accept the Kafka client's properties.
    """
    topic = config.options.dead_letter_topic
    if topic is None:
        return
    # Created for its validation of the properties only: it does not connect yet
    KafkaProducer(producer_settings(config.client, idempotent=True))
    WriteAdmin(config.client).check_writable((topic,), "dirty-data.collector.topic")
