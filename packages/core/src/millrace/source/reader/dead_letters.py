"""Hand the malformed messages that a query skips to the dead letter collector that the options name."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from contextlib import suppress

from millrace.configuration import SourceConfig
from millrace.contracts import DeadLetterCollector
from millrace.errors import PluginError, UnreachableError
from millrace.kafka.delivery import Delivery, record_errors
from millrace.kafka.errors import client_errors
from millrace.kafka.producer import producer_for
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.kafka.topic_limits import with_fitting_batches
from millrace.kafka.write_admin import WriteAdmin
from millrace.options.secrets import Properties
from millrace.source.reader.error_policy import MalformedRecord, MalformedRecordCollector
from millrace.worker import RESOURCES, WorkerResources

_LOOK_UP_S = 1.0
"""Seconds for which brokers are asked for the limits of topics."""

Headers = Sequence[tuple[str, bytes | None]]


def collector_for(config: SourceConfig, resources: WorkerResources = RESOURCES) -> MalformedRecordCollector:
    """Return the collector that the options ask for, for one task.

    Raises:
        PluginError: This process cannot use the plugin.
    """
    if config.dead_letter_collector is None:
        return DiscardingCollector()
    collector: DeadLetterCollector = config.dead_letter_collector.create()
    return PluginCollector(collector, TaskProducer(config.client, collector.topics, resources))


class DiscardingCollector:
    """Discard malformed messages."""

    def collect(self, malformed: Sequence[MalformedRecord]) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""


class TaskProducer:
    """Produce the records of a task's dead letter collector: see `RecordProducer`.

    The client is made for the first of them, and kept by the worker.

    Args:
        client: Properties for the Kafka client that reads.
        topics: The topics that the collector may produce to.
        resources: Keeps the client.
    """

    def __init__(self, client: Properties, topics: Mapping[str, str], resources: WorkerResources = RESOURCES) -> None:
        self._client = client
        self._topics = topics
        self._resources = resources
        self._delivery: Delivery | None = None

    def produce(self, topic: str, *, key: bytes | None, value: bytes | None, headers: Headers = ()) -> None:
        """Hand a record to the client: see `RecordProducer.produce`."""
        if topic not in self._topics:
            known = ", ".join(map(repr, self._topics)) or "no topic"
            raise PluginError(
                f"the dead letter collector produces to topic {topic!r}, but its property 'topics' names {known}: "
                f"return "
                f"every topic there, so that it is checked before the first task"
            )
        delivery = self._open_delivery()
        with client_errors(f"writing to topic {topic!r}"), record_errors(topic):
            delivery.produce(topic, value=value, key=key, headers=list(headers))

    def check(self) -> None:
        """Raise if deliveries have failed.

        Raises:
            DeliveryError: Earlier records could not be delivered.
        """
        if self._delivery is not None:
            self._delivery.check()

    def flush(self) -> None:
        """Wait until the brokers have acknowledged all records.

        Raises:
            DeliveryError: Some could not be delivered.
        """
        if self._delivery is not None:
            self._delivery.flush()
        self._resources.poll()

    def _open_delivery(self) -> Delivery:
        if self._delivery is None:
            # Nobody would take its statistics
            client = self._client
            # Brokers that are away are for the delivery to wait for
            with suppress(UnreachableError):
                client = _fitting(client, tuple(self._topics))
            client = Properties({**client, **STATISTICS_OFF})
            self._delivery = Delivery(
                producer_for(client, idempotent=True, resources=self._resources),
                "dead letters (option 'dirty-data.collector')",
                "Spark reads its messages again",
            )
        return self._delivery


@functools.lru_cache(maxsize=16)
def _fitting(client: Properties, topics: tuple[str, ...]) -> Properties:
    """Return properties with batches that the topics take; looked up once in each process that has dead letters."""
    return with_fitting_batches(client, WriteAdmin(client, _LOOK_UP_S).topic_configs(topics))


class PluginCollector:
    """Hand malformed messages to a plugin.

    Args:
        collector: The plugin.
        producer: Produces its records.
    """

    def __init__(self, collector: DeadLetterCollector, producer: TaskProducer) -> None:
        self._collector = collector
        self._producer = producer

    def collect(self, malformed: Sequence[MalformedRecord]) -> None:
        """Collect some messages.

        Raises:
            DeliveryError: Earlier ones could not be delivered.
            MessageError: One is larger than the client accepts.
        """
        self._collector.collect([record.dead_letter for record in malformed], self._producer)
        self._producer.check()

    def finish(self) -> None:
        """Return when all messages are where they belong.

        Raises:
            DeliveryError: Some could not be delivered.
        """
        self._collector.finish()
        self._producer.flush()
