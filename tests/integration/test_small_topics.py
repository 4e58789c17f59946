"""Topics whose `max.message.bytes` is below the size of a batch, and whatever writes to them."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest

from millrace.configuration.build import configure_sink
from millrace.errors import DeliveryError
from millrace.options.secrets import Properties
from millrace.sampling import Topics
from millrace.sink.pipeline import write
from millrace.sink.preflight import prepare
from millrace.sink.write_task import WriteTask
from millrace.source.reader.dead_letters import TaskProducer
from millrace_cdc import Pipeline
from support.kafka import consume, produce, wait_for_markers
from support.names import unique_name
from support.tiers import nightly_but

LIMIT = 32_768
ROWS = 5_000
NOISE = random.Random(7)


def noise(size: int) -> bytes:
    """Bytes that do not compress."""
    return NOISE.randbytes(size)


def rows(count: int = ROWS, size: int = 500) -> pa.RecordBatch:
    keys = [str(number).encode() for number in range(count)]
    return pa.record_batch({"key": keys, "value": [noise(size) for _ in keys]})


@pytest.fixture
def small(make_topic) -> str:
    return make_topic(config={"max.message.bytes": str(LIMIT)})


WRITES = {
    "plain": {},
    "a size of the user's": {"properties.batch.size": "500000"},
    "not compressed": {"properties.compression.type": "none"},
    "exactly once": {"sink.delivery-guarantee": "exactly-once"},
}


@pytest.mark.parametrize("case", nightly_but(WRITES, "a size of the user's", "exactly once"))
def test_batches_fit(broker, connection, small, case):
    options = WRITES[case]
    if "sink.delivery-guarantee" in options:
        options = {**options, "sink.transactional-id-prefix": unique_name("small")}
    config = prepare(configure_sink({**connection, "topic": small, **options}))
    batch = rows()

    assert write(config, batch.schema, [batch], WriteTask(0, 1, "me")).rows == ROWS

    wait_for_markers(broker.bootstrap_servers, small)
    assert len(consume(broker.bootstrap_servers, small)) == ROWS


@pytest.mark.parametrize("headers", nightly_but([True, False], False), ids=["one by one", "in batches"])
def test_a_row_that_does_not_fit_is_named_with_its_key_its_size_and_the_limit(connection, small, headers):
    config = prepare(configure_sink({**connection, "topic": small}))
    too_large = rows(1, 2 * LIMIT)
    if headers:
        kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
        too_large = too_large.append_column("headers", pa.array([[]], kind))

    with pytest.raises(DeliveryError) as error:
        write(config, too_large.schema, [too_large], WriteTask(0, 1, "me"))

    assert (
        f"{small}-0: Broker: Message size too large: a record with key b'0' has {2 * LIMIT + 1} bytes, which "
        f"compressed exceed the topic's 'max.message.bytes' = {LIMIT}: raise that, or leave the record out"
    ) in str(error.value)


@pytest.mark.nightly
def test_batches_of_a_topic_that_no_option_names_may_be_too_large_and_the_option_is_advised(connection, small):
    config = prepare(configure_sink(connection))
    batch = rows().append_column("topic", pa.array([small] * ROWS))

    with pytest.raises(DeliveryError, match=r"it or its batch exceeds .* name the topic by the option 'topic'"):
        write(config, batch.schema, [batch], WriteTask(0, 1, "me"))


@pytest.mark.nightly
def test_rows_of_an_upsert_table_fit(broker, connection, small):
    keys = {"key.format": "csv", "key.fields": "id", "value.format": "json"}
    config = prepare(configure_sink({**connection, "connector": "upsert-kafka", "topic": small, **keys}))
    numbers, kinds = range(ROWS), ["+I"] * (ROWS - 1) + ["-D"]
    batch = pa.record_batch({"row_kind": kinds, "id": numbers, "text": [noise(250).hex() for _ in numbers]})

    assert write(config, batch.schema, [batch], WriteTask(0, 1, "me")).rows == ROWS

    written = {message.key(): message.value() for message in consume(broker.bootstrap_servers, small)}
    assert len(written) == ROWS
    assert [key for key, value in written.items() if value is None] == [str(ROWS - 1).encode()]


@pytest.mark.nightly
def test_dead_letters_fit(broker, connection, small):
    client = Properties({"bootstrap.servers": connection["properties.bootstrap.servers"]})
    producer = TaskProducer(client, {small: "topic"})
    for _ in range(ROWS):
        producer.produce(small, key=None, value=noise(500))
    producer.flush()
    assert len(consume(broker.bootstrap_servers, small)) == ROWS


@pytest.mark.nightly
def test_pipelines_are_told_the_size(connection, small, make_topic):
    topics = Topics(Properties({"bootstrap.servers": connection["properties.bootstrap.servers"]}))
    size = topics.fitting_batch_size([make_topic(), small])
    assert size is not None
    assert 0 < int(size) < LIMIT
    assert topics.fitting_batch_size([make_topic()]) is None


@pytest.mark.nightly
def test_changes_of_a_pipeline_fit(spark, broker, connection, small, make_topic, tmp_path):
    origin, servers = make_topic(), f"properties.bootstrap.servers: {broker.bootstrap_servers}"
    source = {"db": "shop", "table": "orders"}
    orders = [{"id": number, "text": noise(250).hex()} for number in range(400)]
    changes = [{"op": "c", "after": order, "source": source} for order in orders]
    produce(broker.bootstrap_servers, origin, [{"value": json.dumps(change)} for change in changes])
    pipeline = f"""
source: {{type: kafka, {servers}, topic: {origin}, scan.startup.mode: earliest-offset}}
sink: {{type: kafka, {servers}, topic: {small}}}
"""

    Pipeline.from_yaml(pipeline).run(spark, checkpoint_location=str(tmp_path), once=True).await_termination()

    written = [json.loads(message.value())["after"] for message in consume(broker.bootstrap_servers, small)]
    assert sorted(written, key=lambda order: order["id"]) == orders
