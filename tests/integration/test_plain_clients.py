"""Requests of plain clients, as other tests make them."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from support.admin import add_partitions, admin_of, delete_topics, group_names, partitions_of, topic_names
from support.kafka import commit_offsets, committed_offsets, consume, produce, transactional_producer
from support.names import unique_name
from support.retrying import flush, retried, retried_all


def create(servers: str, topic: str) -> None:
    """Create a topic without waiting until the broker knows it."""
    admin = admin_of(servers)
    retried_all(lambda: admin.create_topics([NewTopic(topic, 2, 1)]))


def test_a_topic_that_the_broker_does_not_know_yet_is_read_and_written(broker) -> None:
    servers = broker.bootstrap_servers
    for topic in [unique_name("new", number) for number in range(3)]:
        create(servers, topic)
        assert consume(servers, topic) == []
        produce(servers, topic, [{"value": b"v", "partition": 1}])
        add_partitions(servers, topic, 3)
        produce(servers, topic, [{"value": b"w", "partition": 2}])
        assert [message.value() for message in consume(servers, topic)] == [b"v", b"w"]
        delete_topics(servers, [topic])
        assert topic not in topic_names(servers)


def test_topics_that_are_gone_already_are_deleted(broker, make_topic) -> None:
    topics = [unique_name("gone"), make_topic()]

    delete_topics(broker.bootstrap_servers, topics)

    assert topic_names(broker.bootstrap_servers).isdisjoint(topics)
    create(broker.bootstrap_servers, topics[1])


def test_new_groups_and_transactional_ids_find_their_coordinators(broker, make_topic) -> None:
    servers, topic = broker.bootstrap_servers, make_topic()
    partition = TopicPartition(topic, 0, 7)
    for number in range(5):
        group = unique_name("group", number)
        commit_offsets(servers, group, [partition])
        assert committed_offsets(servers, group, [partition]) == [7]
        assert group in group_names(servers)
        producer = transactional_producer(servers, group)
        producer.begin_transaction()
        producer.produce(topic, group)
        flush(producer)
        retried(producer.commit_transaction)
    assert len(consume(servers, topic)) == 5


def test_a_refusal_is_raised_at_once(broker, make_topic) -> None:
    topic = make_topic()
    with pytest.raises(KafkaException, match="TOPIC_ALREADY_EXISTS"):
        create(broker.bootstrap_servers, topic)


def test_all_partitions_are_found(broker, make_topic) -> None:
    topic = make_topic(3)
    client = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    assert [each.partition for each in partitions_of(client, topic)] == [0, 1, 2]
