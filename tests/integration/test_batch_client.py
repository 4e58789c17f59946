"""The client that produces columns of records, beside confluent-kafka's, which takes them one by one."""

from __future__ import annotations

import gc
import os
import random
import threading
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from millrace.contracts import Payloads
from millrace.errors import MessageError, OptionsError, UnknownTopicError
from millrace.kafka import librdkafka, retry
from millrace.kafka.batch_client import BatchClient, MessageArray, TopicPartitions, UndeliveredMessage
from millrace.kafka.producer import KafkaProducer, producer_for, producer_settings
from millrace.kafka.sticky_partitioner import StickyPartitioner
from millrace.options.secrets import Properties
from millrace.records.producer_records import ProducerRecords
from millrace.sink.writer.produce import RecordWriter
from millrace.worker import WorkerResources
from support.clock import Clock
from support.kafka import consume
from support.waiting import PATIENCE_S, wait_until

PAYLOADS = [b"a", b"", None, "größer".encode(), b"\x00\xff", b"x" * 70_000, None, b""]
# Cannot be compressed
LARGE = random.Random(1).randbytes(100_000)


@pytest.fixture
def make_writer(broker):
    """Makes writers whose producer takes records in batches, or one by one."""

    def make(in_batches: bool = True, **properties: str) -> RecordWriter:
        client = Properties({"bootstrap.servers": broker.bootstrap_servers})
        named = {name.replace("_", "."): value for name, value in properties.items()}
        settings = {**producer_settings(client, idempotent=True), **named}
        return RecordWriter(KafkaProducer(settings, in_batches=in_batches))

    return make


def write(writer: RecordWriter, records: ProducerRecords, partitions: pa.Int32Array | None = None) -> None:
    writer.write(records, partitions)
    writer.flush()


def test_only_batches_are_taken_by_the_batch_client(make_writer) -> None:
    assert isinstance(make_writer()._client, BatchClient)
    assert not isinstance(make_writer(in_batches=False)._client, BatchClient)


def test_records_are_produced_one_by_one_where_the_library_lacks_a_function(
    make_writer, broker, make_topic, monkeypatch
) -> None:
    monkeypatch.setitem(librdkafka._FUNCTIONS, "rd_kafka_no_such_function", (None, []))
    librdkafka.load_library.cache_clear()
    try:
        writer, topic = make_writer(), make_topic(1)
        assert isinstance(writer._client, Producer)
        write(writer, ProducerRecords(topic, Payloads(pa.array([b"a", b"b"], pa.binary()))))
    finally:
        librdkafka.load_library.cache_clear()
    assert [message.value() for message in consume(broker.bootstrap_servers, topic)] == [b"a", b"b"]


def test_both_clients_write_the_same_records(make_writer, broker, make_topic) -> None:
    keys, values = PAYLOADS * 4, PAYLOADS[::-1] * 4
    numbers = pa.array([None, 0, 2, 1] * 8, pa.int32())
    # Rows of a batch that was cut begin within their buffers
    columns = [pa.array([b"left out", *part], pa.binary()).slice(1) for part in (values, keys)]
    written = []
    for in_batches in (False, True):
        topic = make_topic(3)
        write(make_writer(in_batches), ProducerRecords(topic, *map(Payloads, columns)), numbers)
        messages = consume(broker.bootstrap_servers, topic)
        # Those of records without a key differ
        written.append(sorted((m.key() or b"", m.key() is None, m.value() or b"", m.value() is None) for m in messages))
        by_row = zip(keys, values, numbers.to_pylist(), strict=True)
        chosen = {(key, value, number) for key, value, number in by_row if number is not None}
        assert chosen <= {(m.key(), m.value(), m.partition()) for m in messages}
    assert written[0] == written[1]
    assert len(written[0]) == len(keys)


def partition_counts(broker, topic) -> Counter[int]:
    return Counter(message.partition() for message in consume(broker.bootstrap_servers, topic))


def writer_after_look_up(make_writer, topic: str, **properties: str) -> RecordWriter:
    """Return a writer as the sink's, which looks the topic up before it writes."""
    writer = make_writer(**properties)
    writer._producer.partition_count(topic)
    return writer


@pytest.mark.parametrize("keys", [None, Payloads.nulls(25_000)], ids=["no keys", "null keys"])
def test_batches_without_keys_fill_one_partition_after_the_other(make_writer, broker, make_topic, keys) -> None:
    topic = make_topic(4)
    writer = writer_after_look_up(make_writer, topic)
    write(writer, ProducerRecords(topic, Payloads([b"small"] * 25_000), keys))
    assert sorted(partition_counts(broker, topic).values()) == [5_000, 10_000, 10_000]


def test_large_records_without_keys_are_divided_by_their_size(make_writer, broker, make_topic) -> None:
    topic = make_topic(4)
    write(writer_after_look_up(make_writer, topic), ProducerRecords(topic, Payloads([LARGE] * 38)))
    assert sorted(partition_counts(broker, topic).values()) == [8, 10, 10, 10]


def test_the_partition_that_has_got_the_least_is_next(make_writer, broker, make_topic) -> None:
    topic = make_topic(2)
    writer = writer_after_look_up(make_writer, topic)
    write(writer, ProducerRecords(topic, Payloads([b"small"] * 10_001)))
    for _ in range(2):
        write(RecordWriter(writer._producer), ProducerRecords(topic, Payloads([b"small"] * 5_000)))
    assert sorted(partition_counts(broker, topic).values()) == [10_000, 10_001]


def test_small_writes_of_a_task_stay_together_and_other_tasks_move_on(make_writer, broker, make_topic) -> None:
    topic = make_topic(3)
    producer = writer_after_look_up(make_writer, topic)._producer
    for _ in range(3):
        task = RecordWriter(producer)
        for _ in range(10):
            task.write(ProducerRecords(topic, Payloads([b"small"] * 7)), None)
        task.flush()
    assert partition_counts(broker, topic) == {0: 70, 1: 70, 2: 70}


def test_records_without_keys_stay_in_their_partition_while_the_queue_is_full(make_writer, broker, make_topic) -> None:
    topic, count = make_topic(2), 5_000
    writer = writer_after_look_up(make_writer, topic, queue_buffering_max_messages="100")
    write(writer, ProducerRecords(topic, Payloads([str(number).encode() for number in range(count)])))
    messages = consume(broker.bootstrap_servers, topic)
    assert len({message.partition() for message in messages}) == 1
    assert [int(message.value()) for message in messages] == list(range(count))


def test_partitions_without_a_leader_get_no_records(make_writer, broker, make_topic, monkeypatch) -> None:
    topic = make_topic(3)
    monkeypatch.setattr(BatchClient, "topic_partitions", lambda *_: TopicPartitions.of({0: 1, 1: -1, 2: 1}))
    write(writer_after_look_up(make_writer, topic), ProducerRecords(topic, Payloads([b"small"] * 50_000)))
    assert partition_counts(broker, topic) in [{0: 30_000, 2: 20_000}, {0: 20_000, 2: 30_000}]


def test_partitions_that_no_longer_exist_are_looked_up_again(make_writer, broker, make_topic, monkeypatch) -> None:
    topic, look_up = make_topic(1), BatchClient.topic_partitions
    with monkeypatch.context() as outdated:
        outdated.setattr(BatchClient, "topic_partitions", lambda *call: (look_up(*call), TopicPartitions(2, (1, 2)))[1])
        writer = writer_after_look_up(make_writer, topic)
    write(writer, ProducerRecords(topic, Payloads([b"small"] * 10_001)))
    assert partition_counts(broker, topic) == {0: 10_001}
    assert writer._producer.partition_count(topic) == 1


def test_slices_and_null_values_without_keys_arrive(make_writer, broker, make_topic) -> None:
    topic, values = make_topic(2), [None if number % 3 else str(number).encode() for number in range(30)]
    column = pa.array([b"left out", *values, b"left out"], pa.binary()).slice(1, 30)
    writer = writer_after_look_up(make_writer, topic, batch_num_messages="7", queue_buffering_max_messages="10")
    write(writer, ProducerRecords(topic, Payloads(column)))
    assert writer._producer.sticky_partitioner(topic) is not None
    messages = consume(broker.bootstrap_servers, topic)
    assert Counter(message.value() for message in messages) == Counter(values)
    assert {message.partition() for message in messages} == {0, 1}


def test_topics_are_looked_up_again_after_failures_and_while_a_partition_has_no_leader(
    broker, make_topic, monkeypatch
) -> None:
    topic, found, clock = make_topic(2), [], Clock()

    def look_up(*_):
        if isinstance(found[-1], KafkaException):
            raise found[-1]
        return found[-1]

    monkeypatch.setattr(BatchClient, "topic_partitions", look_up)
    producer = KafkaProducer(
        {"bootstrap.servers": broker.bootstrap_servers}, in_batches=True, clock=retry.Clock(now=clock)
    )

    def partitioner(answer: TopicPartitions | KafkaException) -> StickyPartitioner:
        found.append(answer)
        producer.partition_count(topic)
        return producer.sticky_partitioner(topic)

    both, one = TopicPartitions(2, (0, 1)), TopicPartitions(2, (1,))
    first = partitioner(both)
    clock.now += 59
    assert partitioner(one) is first
    clock.now += 2
    assert partitioner(one).available == (1,)
    clock.now += 0.9
    assert partitioner(both).available == (1,)
    clock.now += 0.2
    again = partitioner(both)
    assert again.available == (0, 1)
    # What it has counted is kept
    clock.now += 61
    assert partitioner(both) is again
    fail_delivery(producer, topic)
    assert partitioner(one).available == (1,)
    # Brokers that do not answer are not asked again after each failure
    clock.now += 2
    assert partitioner(KafkaException(KafkaError(KafkaError._TRANSPORT))).available == (1,)
    fail_delivery(producer, topic)
    assert partitioner(both).available == (1,)
    clock.now += 61
    assert partitioner(both).available == (0, 1)


def fail_delivery(producer: KafkaProducer, topic: str) -> None:
    producer._failed_deliveries._on_delivery(KafkaError(KafkaError._MSG_TIMED_OUT), UndeliveredMessage(topic, 0))
    assert producer.pop_failures()[0] == 1


def test_the_client_chooses_partitions_where_users_say_how_long_it_stays_with_one(broker, make_topic) -> None:
    topic, resources = make_topic(4), WorkerResources()
    for properties, is_ours in [({}, True), ({"sticky.partitioning.linger.ms": "10"}, False)]:
        client = Properties({"bootstrap.servers": broker.bootstrap_servers, **properties})
        producer = producer_for(client, idempotent=True, in_batches=True, resources=resources)
        producer.partition_count(topic)
        assert (producer.sticky_partitioner(topic) is not None) is is_ours


def test_keys_go_to_the_same_partitions_by_both_clients(make_writer, broker, make_topic) -> None:
    keys = [f"key {number}".encode() for number in range(500)]
    partitions = []
    for in_batches in (False, True):
        topic = make_topic(7)
        write(make_writer(in_batches), ProducerRecords(topic, Payloads(keys), Payloads(keys)))
        partitions.append({m.key(): m.partition() for m in consume(broker.bootstrap_servers, topic)})
    assert partitions[0] == partitions[1]
    assert len(set(partitions[1].values())) == 7


@pytest.mark.parametrize("in_batches", [False, True], ids=["one by one", "in batches"])
def test_records_keep_their_order_while_the_queue_is_full(make_writer, broker, make_topic, in_batches) -> None:
    topic, count = make_topic(2), 5_000
    values = Payloads([str(number).encode() for number in range(count)])
    partitions = pa.array([number % 2 for number in range(count)], pa.int32())
    write(make_writer(in_batches, queue_buffering_max_messages="100"), ProducerRecords(topic, values), partitions)
    messages = consume(broker.bootstrap_servers, topic)
    for partition in (0, 1):
        found = [int(message.value()) for message in messages if message.partition() == partition]
        assert found == list(range(partition, count, 2))


def test_a_record_that_is_too_large_is_refused_among_others(make_writer, make_topic) -> None:
    with pytest.raises(MessageError, match="larger than the client accepts"):
        make_writer(message_max_bytes="1000").write(ProducerRecords(make_topic(), Payloads([b"a", b"b" * 2000])), None)


def test_a_partition_that_does_not_exist_is_reported(make_writer, make_topic) -> None:
    client = make_writer()._client
    topic = make_topic(2)
    assert client.topic_partitions(topic, 10) == TopicPartitions(2, (0, 1))
    with pytest.raises(KafkaException) as error:
        client.produce_batch(topic, MessageArray(pa.array([b"a"], pa.binary()), None, pa.array([5], pa.int32())))
    assert error.value.args[0].code() == KafkaError._UNKNOWN_PARTITION


def test_a_topic_that_does_not_exist_is_reported(make_writer) -> None:
    producer = make_writer()._producer
    with pytest.raises(UnknownTopicError, match="no-such-topic"):
        producer.partition_count("no-such-topic")


def test_deliveries_that_the_broker_refuses_fail_the_task(make_writer, make_topic) -> None:
    writer = make_writer()
    topic = make_topic(config={"max.message.bytes": "100"})
    with pytest.raises(Exception, match=r"1 of 1 records .*were not delivered; the first, .*-0: .*too large"):
        write(writer, ProducerRecords(topic, Payloads([LARGE[:5_000]])))


def test_statistics_and_log_lines_arrive(make_writer, caplog) -> None:
    writer = make_writer(statistics_interval_ms="50", debug="conf")
    producer = writer._producer
    with caplog.at_level("DEBUG", "millrace.kafka"):
        wait_until(lambda: (producer.poll(), producer.statistics.latest()[1])[1], "statistics")
    assert "txmsgs" in producer.statistics.latest()[1]
    assert "delivery.report.only.error" in caplog.text


def test_errors_of_the_connection_arrive() -> None:
    producer = KafkaProducer({"bootstrap.servers": "127.0.0.1:1"}, in_batches=True)
    wait_until(lambda: (producer.poll(), producer.client_log.recent_errors())[1], "an error")
    assert "Connection refused" in producer.client_log.recent_errors()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("no.such.property", "1", "no.such.property"),
        ("retries", "many", "retries"),
        ("acks", "9999", "acks"),
        ("batch.num.messages", "many", "batch.num.messages"),
    ],
)
def test_properties_are_refused_as_by_the_other_client(name: str, value: str, message: str) -> None:
    refusals = []
    for in_batches in (False, True):
        with pytest.raises(OptionsError, match=message) as error:
            KafkaProducer({"bootstrap.servers": "127.0.0.1:1", name: value}, in_batches=in_batches)
        refusals.append(str(error.value))
    assert refusals[0] == refusals[1]


@pytest.mark.parametrize(
    "settings",
    [{"sasl.mechanism": "OAUTHBEARER"}, {"sasl.mechanisms": "oauthbearer"}, {"oauth_cb": print}],
    ids=["mechanism", "alias", "callback"],
)
def test_tokens_are_left_to_the_other_client(settings) -> None:
    assert BatchClient.accepts({"linger.ms": "5", "logger": print})
    assert not BatchClient.accepts(settings)


def thread_count() -> int:
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def test_a_client_that_is_dropped_ends_its_threads(make_writer) -> None:
    gc.collect()
    before = thread_count()
    writer = make_writer()
    assert thread_count() > before
    del writer
    wait_until(lambda: thread_count() <= before, "the threads to end")


def test_a_fork_leaves_the_client_of_its_parent_alone(make_writer, broker, make_topic) -> None:
    writer, topic = make_writer(), make_topic()
    process = os.fork()
    if not process:
        del writer
        os._exit(0)
    ended = threading.Event()
    threading.Thread(target=lambda: (os.waitpid(process, 0), ended.set()), daemon=True).start()
    assert ended.wait(PATIENCE_S)
    write(writer, ProducerRecords(topic, Payloads([b"still here"])))
    assert [message.value() for message in consume(broker.bootstrap_servers, topic)] == [b"still here"]
