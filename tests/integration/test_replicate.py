"""A folder that is kept in step with a topic, on a real broker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from millrace.errors import SchemaError
from millrace_catalog import KafkaJsonCatalog, ParquetSink, replicate
from support.kafka import produce
from support.waiting import wait_until

ORDER_ID = "coalesce(get_json_object(properties, '$.order_id'), 'default')"


@pytest.fixture
def write(broker, make_topic):
    """Write messages, each as JSON, to one topic of two partitions, and return its name."""
    topic = make_topic(2)

    def write(*messages, partition=0):
        values = [json.dumps(message, separators=(",", ":")).encode() for message in messages]
        produce(broker.bootstrap_servers, topic, [{"value": value, "partition": partition} for value in values])
        return topic

    return write


def rows_of(frame):
    return [row.asDict(recursive=True) for row in frame.orderBy("partition", "offset").collect()]


@pytest.mark.nightly
def test_a_folder_follows_its_topic(spark, connection, write, tmp_path):
    path = f"{tmp_path}/orders"
    topic = write({"id": 1, "n": 1, "properties": {"order_id": "a"}}, {"id": 2, "n": None, "properties": None})
    catalog = KafkaJsonCatalog.from_options(connection)

    def start(table, checkpoint, **more):
        added = {"order_id": ORDER_ID, "twice": "id * 2"}
        place = f"{tmp_path}/{checkpoint}"
        return replicate(
            table, ParquetSink(path), spark=spark, checkpoint_location=place, computed_columns=added, **more
        )

    table = catalog.table(topic)
    with start(table, "first") as query:
        wait_until(lambda: spark.read.parquet(path).count() == 2, "the first rows")
        write(
            {"id": 3, "n": "many", "late": [1, 2]}, {"id": 4, "n": 1.5}, {"id": 5, "n": True, "late": [2]}, partition=1
        )
        # Files are swapped until then
        wait_until(lambda: query.restarts == 1 or query.exception(), "the other columns")
        assert query.exception() is None
        wait_until(lambda: spark.read.parquet(path).count() == 5 or query.exception(), "rows with other columns")
        assert query.exception() is None
        assert query.restarts == 1

    columns = ["id", "n", "properties", "partition", "offset", "timestamp", "order_id", "twice", "late"]
    assert spark.read.parquet(path).columns == columns
    catalog.refresh()
    newer = catalog.table(topic)
    expected = newer.read(spark).selectExpr("*", f"{ORDER_ID} AS order_id", "id * 2 AS twice").select(columns)
    found = rows_of(spark.read.parquet(path))
    assert found == rows_of(expected)
    assert [(row["id"], row["n"], row["order_id"], row["late"]) for row in found] == [
        (1, "1", "a", None),
        (2, None, "default", None),
        (3, "many", "default", [1, 2]),
        (4, "1.5", "default", None),
        (5, "true", "default", [2]),
    ]

    # A query that starts from scratch repeats nothing
    files = set(Path(path).iterdir())
    assert start(newer, "second", trigger={"availableNow": True}).await_termination(120)
    assert set(Path(path).iterdir()) == files

    # The table gets a column with the name of an added one
    write({"id": 6, "Twice": 12})
    query = start(table, "first", trigger={"availableNow": True})
    with pytest.raises(SchemaError, match="has a column Twice: give the computed column another name"):
        query.await_termination(120)


def test_columns_that_cannot_be_added_are_refused_before_anything_is_made(spark, connection, write, tmp_path):
    table = KafkaJsonCatalog.from_options(connection).table(write({"id": 1}))
    wrong = {
        "ID": ("1", "has a column id: give the computed column another name"),
        "x": (
            "ids + 1",
            r"computed column x .*: expected a Spark SQL expression with one value per row, got 'ids \+ 1'",
        ),
        "y": ("count(*)", r"computed column y .*: expected a Spark SQL expression .*, got 'count\(\*\)'"),
        "z": ("explode(array(1, 2))", r"computed column z .*: expected a Spark SQL expression with one value per row"),
    }
    for name, (expression, problem) in wrong.items():
        with pytest.raises(SchemaError, match=problem):
            replicate(
                table,
                ParquetSink(f"{tmp_path}/table"),
                spark=spark,
                checkpoint_location=f"{tmp_path}/{name}",
                computed_columns={name: expression},
            )
    assert not (tmp_path / "table").exists()
