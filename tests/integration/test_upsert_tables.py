"""Tables with a primary key through Spark on the real broker."""

from __future__ import annotations

import json
import shutil

import pytest
from pyspark.errors import StreamingQueryException

from support.cases import CASES
from support.compaction import Table
from support.kafka import produce
from support.waiting import PATIENCE_S

SCHEMA = "row_kind STRING, id BIGINT, name STRING"
TABLE = {"connector": "upsert-kafka", "key.format": "json", "key.fields": "id", "value.format": "json"}


@pytest.fixture
def changes(spark, connection, tmp_path):
    """Read what is new in a topic, in a new run of one query, and return it in order."""
    query_name = f"changes_{tmp_path.name}".replace("-", "_")

    def run(topic, schema=SCHEMA, **options):
        stream = spark.readStream.format("millrace").options(**connection, **TABLE, topic=topic).options(**options)
        stream = stream.option("state.checkpoints.dir", f"{tmp_path}/checkpoint/state")
        stream = stream.option("state.backend.local-dir", f"{tmp_path}/local").schema(schema).load()
        rows = []
        query = (
            stream.writeStream.option("checkpointLocation", f"{tmp_path}/checkpoint")
            .queryName(query_name)
            .trigger(availableNow=True)
            .foreachBatch(lambda batch, _: rows.extend(tuple(row) for row in batch.collect()))
            .start()
        )
        try:
            query.awaitTermination(PATIENCE_S)
            assert not query.isActive
        finally:
            query.stop()
        return rows

    return run


def test_a_table_goes_on_after_its_topic_was_compacted_and_its_store_lost(changes, make_topic, broker, tmp_path):
    table = Table(broker.bootstrap_servers, make_topic)
    table.write((1, "a"), (2, "b"), (1, "c"))
    assert changes(table.topic) == [("+I", 1, "a"), ("+I", 2, "b"), ("-U", 1, "a"), ("+U", 1, "c")]

    table.write((1, "d"), (2, None), (3, None), (3, "e"))
    table.write((3, "f"))
    table.compact()
    # Neither the topic nor this machine knows any more that row 1 was c
    shutil.rmtree(tmp_path / "local")

    after = [row for row in changes(table.topic) if row[1] > 0]
    assert [row for row in after if row[1] == 1] == [("-U", 1, "c"), ("+U", 1, "d")]
    assert [row for row in after if row[1] == 3] == [("+I", 3, "f")]
    # Of the deletion the topic may have nothing left
    assert [row for row in after if row[1] == 2] in ([("-D", 2, "b")], [])


def test_changes_read_twice_in_one_micro_batch_are_the_same(spark, connection, make_topic, broker, tmp_path):
    topic = make_topic(3)
    produce(broker.bootstrap_servers, topic, [message(n % 40, f"row {n}") for n in range(400)])
    stream = spark.readStream.format("millrace").options(**connection, **TABLE, topic=topic)
    stream = stream.option("state.checkpoints.dir", str(tmp_path / "state")).schema(SCHEMA)
    found = []

    def look_and_read(batch, _):
        # The first action reads some of the rows only
        batch.limit(1).collect()
        found.extend([sorted(map(tuple, batch.collect())) for _ in range(2)])

    writer = stream.option("scan.max-records-per-batch", "150").load().writeStream.foreachBatch(look_and_read)
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination(PATIENCE_S)
    assert not query.isActive
    assert len(found) >= 6
    assert found[::2] == found[1::2]
    kinds = [kind for rows in found[::2] for kind, _, _ in rows]
    assert {kind: kinds.count(kind) for kind in ("+I", "-U", "+U")} == {"+I": 40, "-U": 360, "+U": 360}


def message(key: int, name: str | None) -> dict[str, bytes | None]:
    value = None if name is None else json.dumps({"id": key, "name": name}).encode()
    return {"key": json.dumps({"id": key}).encode(), "value": value}


def test_a_batch_has_the_latest_rows(spark, connection, make_topic, broker):
    topic = make_topic(3)
    produce(broker.bootstrap_servers, topic, [message(n % 50, f"row {n}") for n in range(20_000)])
    produce(broker.bootstrap_servers, topic, [message(7, None)])
    table = spark.read.format("millrace").options(**connection, **TABLE, topic=topic).schema(SCHEMA).load()
    rows = sorted(map(tuple, table.collect()))
    assert rows == [("+I", key, f"row {19_950 + key}") for key in range(50) if key != 7]


def test_upserts_are_read_without_state(changes, make_topic, broker, tmp_path):
    table = Table(broker.bootstrap_servers, make_topic)
    table.write((1, "a"), (1, "b"), (1, None))
    found = changes(table.topic, **{"changelog.mode": "upsert"})
    assert found == [("+U", 1, "a"), ("+U", 1, "b"), ("-D", 1, None)]
    assert not (tmp_path / "local").exists()


def test_a_stream_needs_a_place_for_its_state(spark, connection, make_topic, tmp_path):
    stream = spark.readStream.format("millrace").options(**connection, **TABLE, topic=make_topic()).schema(SCHEMA)
    writer = stream.load().writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    with pytest.raises(StreamingQueryException, match=r"option 'state.checkpoints.dir' is required for a stream"):
        writer.start().awaitTermination(PATIENCE_S)


@pytest.mark.cases
def test_the_changes_of_a_shop_become_its_products(spark, connection, make_topic, broker, changes):
    lines = (CASES / "upsert" / "product_changelog.txt").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    topic, schema = make_topic(), "row_kind STRING, product_id STRING, product_name STRING, product_price DOUBLE"
    for event in events:
        key = json.dumps({"product_id": (event["after"] or event["before"])["product_id"]}).encode()
        value = None if event["after"] is None else json.dumps(event["after"]).encode()
        produce(broker.bootstrap_servers, topic, [{"key": key, "value": value}])

    found = changes(topic, schema, **{"key.fields": "product_id"})

    expected = []
    for event in events:
        old, new = event["before"], event["after"]
        kinds = ("+I",) if old is None else ("-U", "+U") if new is not None else ("-D",)
        images = (new,) if old is None else (old, new) if new is not None else (old,)
        expected += [(kind, *image.values()) for kind, image in zip(kinds, images, strict=True)]
    assert found == expected
