"""The newest messages of every partition, on a real broker."""

from __future__ import annotations

import pytest

from millrace.contracts import SampledMessage
from millrace.errors import UnknownTopicError
from millrace.options.secrets import Properties
from millrace.sampling import Topics
from support.kafka import produce, transactional_producer, wait_for_markers
from support.retrying import flush, retried


@pytest.fixture
def topics(broker):
    return Topics(Properties({"bootstrap.servers": broker.bootstrap_servers}))


def test_transactions_and_their_ends_do_not_count(broker, make_topic, topics):
    topic = make_topic(3)
    producer = transactional_producer(broker.bootstrap_servers, topic, **{"linger.ms": "0"})
    for number in range(12):
        producer.begin_transaction()
        producer.produce(topic, b"%d" % number, key=b"k", partition=0)
        retried(producer.commit_transaction)
    producer.begin_transaction()
    for _ in range(100):
        producer.produce(topic, b"aborted", partition=0)
    flush(producer)
    retried(producer.abort_transaction)
    wait_for_markers(broker.bootstrap_servers, topic)
    produce(broker.bootstrap_servers, topic, [{"value": None, "partition": 1}])

    found = topics.newest([topic], 10)[topic]

    # Every second offset is a transaction's end, and the last 101 are of one that was aborted
    assert found == [
        *(SampledMessage(0, 2 * number, b"k", b"%d" % number) for number in range(2, 12)),
        SampledMessage(1, 0, None, None),
    ]
    assert [each.value for each in topics.newest([topic], 1)[topic]] == [b"11", None]


def test_what_is_not_there_is_told(topics):
    with pytest.raises(UnknownTopicError, match="no topic 'not-there' at "):
        topics.newest(["not-there"], 1)
    assert not [name for name in topics.names() if name.startswith("__")]
