"""Spark goes on from changed copies of checkpoints."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from support.command_line import run_command
from support.kafka import consume, produce

FIRST_MS = 1_767_323_045_000


@pytest.fixture
def make_log(broker, make_topic):
    """Makes topics with six values, a second after each other, which are not so old as to expire."""

    def make() -> str:
        topic = make_topic(1, {"retention.ms": "-1"})
        write(broker, topic, "abacbc")
        return topic

    return make


def write(broker: Any, topic: str, values: str) -> None:
    records = [{"value": value.encode(), "timestamp": FIRST_MS + 1000 * n} for n, value in enumerate(values)]
    produce(broker.bootstrap_servers, topic, records)


def read(spark: Any, broker: Any, topic: str, limit: int = 100) -> Any:
    reader = spark.readStream.format("millrace").option("kafka.bootstrap.servers", broker.bootstrap_servers)
    reader = reader.option("subscribe", topic).option("startingOffsets", "earliest")
    return reader.option("maxOffsetsPerTrigger", limit).load().selectExpr("CAST(value AS STRING) AS value")


def run(rows: Any, checkpoint: Path, mode: str = "append") -> list[Any]:
    """Run a query until it has read all there is; return the rows of each micro-batch that has some."""
    batches: list[Any] = []

    def keep(batch: Any, _: int) -> None:
        batches.append(sorted(tuple(row) for row in batch.collect()))

    writer = rows.writeStream.foreachBatch(keep).outputMode(mode).option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start().awaitTermination()
    return [batch for batch in batches if batch]


def change(command: str, *arguments: object) -> str:
    done = run_command("checkpoint", command, *arguments)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize(
    "target",
    [
        lambda topic: json.dumps({topic: {"0": 4}}),
        lambda _: str(datetime.fromtimestamp((FIRST_MS + 3_500) / 1000, UTC)),
    ],
    ids=["offsets", "time"],
)
def test_a_query_goes_back_to_offsets(spark, broker, make_log, tmp_path, target: Callable[[str], str]):
    topic = make_log()
    assert run(read(spark, broker, topic), tmp_path / "old") == [[(each,) for each in "aabbcc"]]
    brokers = ("--bootstrap-servers", broker.bootstrap_servers)
    output = change("rewind", tmp_path / "old", tmp_path / "new", "--to", target(topic), *brokers)
    assert output.endswith(f"read again: 2 offsets, {topic}-0 [4, 6)\n")
    assert run(read(spark, broker, topic), tmp_path / "new") == [[("b",), ("c",)]]
    assert run(read(spark, broker, topic), tmp_path / "old") == []


def test_a_query_with_state_goes_back_with_its_state(spark, broker, make_log, tmp_path):
    def counts(checkpoint: str) -> list[Any]:
        return run(read(spark, broker, topic, 2).groupBy("value").count(), tmp_path / checkpoint, "update")

    topic = make_log()
    before = counts("old")
    assert before == [[("a", 1), ("b", 1)], [("a", 2), ("c", 1)], [("b", 2), ("c", 2)]]
    output = change("rewind", tmp_path / "old", tmp_path / "new", "--to", json.dumps({topic: {"0": 3}}))
    assert "to the end of micro-batch 0, the last one before the offsets\n" in output
    assert counts("new") == before[1:]


def test_a_fork_goes_on_beside_the_first_query_and_writes_each_row_once(spark, broker, make_topic, make_log, tmp_path):
    def copy(name: str, target: str) -> None:
        writer = read(spark, broker, topic).writeStream.format("millrace")
        options = {
            "properties.bootstrap.servers": broker.bootstrap_servers,
            "topic": target,
            "sink.delivery-guarantee": "exactly-once",
            "sink.transactional-id-prefix": target,
            "checkpointLocation": str(tmp_path / name),
        }
        writer.options(**options).trigger(availableNow=True).start().awaitTermination()

    topic, first, second = make_log(), make_topic(), make_topic()
    copy("old", first)
    change("fork", tmp_path / "old", tmp_path / "new")
    write(broker, topic, "de")
    copy("old", first)
    copy("new", second)
    written = {
        target: [each.value() for each in consume(broker.bootstrap_servers, target)] for target in (first, second)
    }
    assert written == {first: [b"a", b"b", b"a", b"c", b"b", b"c", b"d", b"e"], second: [b"d", b"e"]}


def test_a_query_goes_on_in_a_topic_of_another_name(spark, broker, make_log, tmp_path):
    old, new = make_log(), make_log()
    run(read(spark, broker, old), tmp_path / "old")
    write(broker, new, "d")
    change("rename-topic", tmp_path / "old", tmp_path / "new", old, new)
    assert run(read(spark, broker, new), tmp_path / "new") == [[("d",)]]
