"""Requests of batch reads to a broker that is far away, where each of them would be waited for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bench.delayed_proxy import DelayedProxy
from pyspark.sql.types import BinaryType, StructType

from millrace.configuration import SourceConfig
from millrace.configuration.build import configure_source
from millrace.kafka.admin import ADMINS
from millrace.kafka.consumer import CONSUMERS
from millrace.source.reader.pipeline import MANY_MESSAGES, split_fetcher
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.spark.batch_reader import BatchReader
from millrace.worker import RESOURCES
from millrace_broker import KafkaBroker
from support.far_broker import far_broker
from support.kafka import produce

SIZE = 500


@pytest.fixture(scope="module")
def far() -> Iterator[tuple[KafkaBroker, DelayedProxy]]:
    """A broker, and the proxy by which clients reach its second listener."""
    with far_broker() as both:
        yield both


@pytest.fixture(scope="module")
def topic(far: tuple[KafkaBroker, DelayedProxy]) -> str:
    """A topic of one partition, of 10 MB."""
    broker, _ = far
    broker.create_topic("values", 1)
    produce(broker.bootstrap_servers, "values", ({"value": bytes(SIZE)} for _ in range(MANY_MESSAGES)))
    return "values"


def config_of(proxy: DelayedProxy, topic: str, **options: str) -> SourceConfig:
    # The end of the log is waited for, so that it is asked for once
    patient = {"properties.fetch.wait.max.ms": "10000"}
    named = {name.replace("__", "-").replace("_", "."): value for name, value in options.items()}
    return configure_source({"properties.bootstrap.servers": proxy.servers, "topic": topic, **patient, **named})


def fetches(proxy: DelayedProxy, config: SourceConfig) -> int:
    """Read a topic, and return how many fetches that took."""
    (partition,) = BatchReader(config, StructType().add("value", BinaryType())).partitions()
    proxy.take_traffic()
    read = sum(len(messages.items) for messages in split_fetcher(config, SplitMetrics())(partition.split))
    assert read == len(partition.split.ranges[0])
    requests = proxy.take_traffic().requests
    for consumer in RESOURCES.items(CONSUMERS).values():
        consumer.close()
    RESOURCES.drop(CONSUMERS)
    return requests["Fetch"]


def test_a_read_that_is_planned_after_another_one_waits_for_two_answers(far, topic):
    _, proxy = far
    config = config_of(proxy, topic)
    reader = BatchReader(config, StructType().add("value", BinaryType()))
    planned = reader.partitions()
    proxy.take_traffic()

    again = BatchReader(config, StructType().add("value", BinaryType())).partitions()

    traffic = proxy.take_traffic()
    assert [each.split for each in again] == [each.split for each in planned]
    assert traffic.connections == 0
    # Begin and end of the logs are asked for at the same time
    assert traffic.requests == {"Metadata": 1, "ListOffsets": 2}
    RESOURCES.drop(ADMINS)


@pytest.mark.nightly
def test_many_messages_take_few_fetches(far, topic):
    _, proxy = far
    assert fetches(proxy, config_of(proxy, topic)) <= 5
    # A user's size of fetches stays as it is
    assert fetches(proxy, config_of(proxy, topic, properties_max_partition_fetch_bytes="1048576")) >= 10
