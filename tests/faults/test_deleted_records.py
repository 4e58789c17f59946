"""Streams whose records are deleted before they are read."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from confluent_kafka import TopicPartition
from pyspark.errors import StreamingQueryException

from support.admin import admin_of
from support.kafka import produce
from support.queries import wait_for_batches_with_rows
from support.retrying import retried_all
from support.waiting import PATIENCE_S


def delete_before(servers: str, partition: TopicPartition) -> None:
    admin = admin_of(servers)
    (deleted,) = retried_all(lambda: admin.delete_records([partition]))
    assert deleted.low_watermark == partition.offset


@pytest.fixture
def behind(broker, make_topic, saved):
    """Start a slow stream; records that it has not read yet are deleted, up to the last 100 of them."""

    def start(**options: str):
        topic = make_topic(2)
        produce(broker.bootstrap_servers, topic, [{"value": str(n).encode(), "partition": 1} for n in range(10_000)])
        query = saved.start(broker.bootstrap_servers, topic, **{"scan.max-records-per-batch": "10", **options})
        wait_for_batches_with_rows(query, 2)
        delete_before(broker.bootstrap_servers, TopicPartition(topic, 1, 9_900))
        return topic, query

    return start


def test_deleted_records_end_a_stream_that_is_behind_with_their_offsets(behind, saved):
    topic, query = behind()

    with pytest.raises(StreamingQueryException) as raised:
        query.awaitTermination(PATIENCE_S)

    # The driver notices it when it plans a micro-batch, an executor when it was planned before
    noticed = (
        rf"{topic}-1 wants offset (\d+), and the log now holds 9900 to 9999: records were deleted",
        rf"{topic}-1: offsets (\d+) to \d+ were to be read, but the log holds 9900 to 9999\. They were deleted",
    )
    found = [match for text in noticed if (match := re.search(text, str(raised.value)))]
    assert found
    assert "Start with a new checkpoint location" in str(raised.value)
    assert saved.numbers() == Counter(range(int(found[0][1])))


def test_a_stream_that_is_behind_goes_on_after_deleted_records_when_told_to(behind, saved):
    _, query = behind(**{"scan.fail-on-data-loss": "false"})

    query.processAllAvailable()

    numbers = saved.numbers()
    read_before = len(numbers) - 100
    assert 20 <= read_before < 9_900
    assert numbers == Counter([*range(read_before), *range(9_900, 10_000)])
