"""Streams whose data are gone before they are read, on the real broker."""

from __future__ import annotations

import json

import pytest
from confluent_kafka import TopicPartition
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.types import StructType

from millrace.configuration.build import configure_source
from millrace.errors import DataLossError
from millrace.spark.stream_reader import StreamReader
from support.admin import admin_of, delete_topics
from support.kafka import produce
from support.retrying import retried_all
from support.waiting import PATIENCE_S


@pytest.fixture(scope="module")
def admin(broker):
    return admin_of(broker.bootstrap_servers)


@pytest.fixture
def collect(spark, connection, tmp_path):
    """Read all that a stream with this checkpoint has not read yet; return its progress and the values so far."""

    def run(**options):
        read = {"scan.startup.mode": "earliest-offset", "scan.topic-partition-discovery.interval": "100 ms", **options}
        rows = spark.readStream.format("millrace").options(**connection, **read).schema("value BINARY").load()
        query = (
            rows.selectExpr("CAST(value AS STRING) AS value")
            .writeStream.format("parquet")
            .options(path=str(tmp_path / "out"), checkpointLocation=str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(PATIENCE_S)
        return sorted(row.value for row in spark.read.parquet(str(tmp_path / "out")).collect())

    return run


def values(*names):
    return [{"value": name.encode(), "partition": 0} for name in names]


def delete_before(admin, topic, offset):
    retried_all(lambda: admin.delete_records([TopicPartition(topic, 0, offset)]))


GO_ON = {"scan.fail-on-data-loss": "false"}


def test_records_that_were_deleted_are_an_error_that_names_them(broker, admin, make_topic, collect):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, values("a", "b"))
    assert collect(topic=topic) == ["a", "b"]
    produce(broker.bootstrap_servers, topic, values("c", "d", "e"))
    delete_before(admin, topic, 4)
    with pytest.raises(StreamingQueryException) as error:
        collect(topic=topic)
    assert f"data is lost: {topic}-0 wants offset 2, and the log now holds 4 to 4: records were deleted." in str(
        error.value
    )
    assert "set option 'scan.fail-on-data-loss' to false" in str(error.value)

    assert collect(topic=topic, **GO_ON) == ["a", "b", "e"]


@pytest.mark.parametrize(
    ("reset", "expected"),
    [("latest", ["a", "f"]), pytest.param("earliest", ["a", "d", "e", "f"], marks=pytest.mark.nightly)],
)
def test_a_stream_goes_on_after_deleted_records_where_it_is_told(broker, admin, make_topic, collect, reset, expected):
    topic, reset = make_topic(), {"properties.auto.offset.reset": reset}
    produce(broker.bootstrap_servers, topic, values("a"))
    assert collect(topic=topic, **reset) == ["a"]
    produce(broker.bootstrap_servers, topic, values("b", "c", "d", "e"))
    delete_before(admin, topic, 3)
    with pytest.raises(
        StreamingQueryException, match=f"data is lost: {topic}-0 wants offset 1, and the log now holds 3 to 4"
    ):
        collect(topic=topic, **reset)

    assert collect(topic=topic, **reset, **GO_ON) == expected[:-1]
    produce(broker.bootstrap_servers, topic, values("f"))
    assert collect(topic=topic, **reset) == expected


def test_a_topic_that_was_made_again_is_noticed_though_it_has_more_records_than_before(
    broker, admin, make_topic, collect
):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, values("a", "b"))
    assert collect(topic=topic) == ["a", "b"]
    delete_topics(broker.bootstrap_servers, [topic])
    broker.create_topic(topic, 1)
    produce(broker.bootstrap_servers, topic, values("c", "d", "e"))
    with pytest.raises(
        StreamingQueryException, match=f"{topic}-0 had been read up to 2 when its topic was deleted and"
    ):
        collect(topic=topic)

    assert collect(topic=topic, **GO_ON) == ["a", "b", "c", "d", "e"]


def test_a_topic_that_was_made_again_is_noticed_before_an_unfinished_micro_batch_is_repeated(
    broker, connection, make_topic
):
    topic = make_topic()

    def process(**options):
        """Make the reader of another process of the query; Spark calls it as is done here."""
        read = {"scan.startup.mode": "earliest-offset", "topic": topic, "scan.parallelism": "2", **options}
        return StreamReader(configure_source({**connection, **read}), StructType().add("value", "binary"))

    def ranges(reader, begin, end):
        return [split.split.ranges for split in reader.partitions(begin, end)]

    produce(broker.bootstrap_servers, topic, values("a", "b"))
    first = process()
    begin = first.initialOffset()
    end = first.latestOffset(begin, ReadAllAvailable())
    planned = ranges(first, begin, end)
    first.stop()
    assert ranges(process(), begin, end) == planned
    delete_topics(broker.bootstrap_servers, [topic])
    broker.create_topic(topic, 1)
    produce(broker.bootstrap_servers, topic, values("c", "d", "e"))
    lost = f"{topic}-0 was to be read again from offset 0 to 1, in a micro-batch that had not ended when its topic was"
    with pytest.raises(DataLossError, match=lost):
        process().partitions(begin, end)

    goes_on = process(**GO_ON)
    assert ranges(goes_on, begin, end) == [(), ()]
    again = goes_on.latestOffset(end, ReadAllAvailable())
    assert sum(len(each) for split in ranges(goes_on, end, again) for each in split) == 3
    goes_on.stop()


def test_partitions_that_are_gone_are_an_error_or_forgotten(broker, admin, make_topic, collect):
    topic, other = make_topic(2), make_topic()
    produce(broker.bootstrap_servers, topic, values("a"))
    topics = f"{topic};{other}"
    assert collect(topic=topics) == ["a"]
    delete_topics(broker.bootstrap_servers, [topic])
    produce(broker.bootstrap_servers, other, values("b"))
    with pytest.raises(StreamingQueryException) as error:
        collect(topic=topics)
    assert f"{topic}-0 is gone: its topic was deleted" in str(error.value)
    assert f"{topic}-1 is gone: its topic was deleted" in str(error.value)

    assert collect(topic=topics, **GO_ON) == ["a", "b"]
    broker.create_topic(topic, 1)
    produce(broker.bootstrap_servers, topic, values("c"))
    assert collect(topic=topics, **GO_ON) == ["a", "b", "c"]


# What brokers before 2.8 answer, and earlier versions stored
@pytest.mark.nightly
@pytest.mark.parametrize("ids", [{}, {"ids": "AAAAAAAAAAAAAAAAAAAAAA"}])
def test_a_checkpoint_without_topic_ids_goes_on(broker, make_topic, collect, tmp_path, ids):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, values("a"))
    collect(topic=topic)
    newest = max((tmp_path / "checkpoint" / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    *head, offset = newest.read_text().splitlines()
    stored = json.loads(offset)
    assert set(stored.pop("ids")) == {topic}
    stored |= {name: {topic: each} for name, each in ids.items()}
    newest.write_text("\n".join([*head, json.dumps(stored)]))
    (newest.parent / f".{newest.name}.crc").unlink(missing_ok=True)
    produce(broker.bootstrap_servers, topic, values("b"))

    assert collect(topic=topic) == ["a", "b"]
