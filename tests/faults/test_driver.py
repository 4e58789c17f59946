"""Streams whose driver is killed."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from support.families import Family
from support.kafka import produce
from support.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "save_numbers.py"
NUMBERS = 20_000
KILLS = 2

pytestmark = pytest.mark.usefixtures("nothing_left")


def batches(checkpoint: Path, log: str) -> set[int]:
    """The micro-batches that are in the log ``offsets``, when they are planned, or ``commits``, when they are done."""
    folder = checkpoint / log
    return {int(file.name) for file in folder.iterdir() if file.name.isdigit()} if folder.exists() else set()


def test_each_record_is_saved_once_when_the_driver_is_killed_in_mid_query(
    spark, connection, broker, make_topic, tmp_path
):
    topic, files, checkpoint = make_topic(4), tmp_path / "files", tmp_path / "checkpoint"
    produce(broker.bootstrap_servers, topic, ({"value": str(number).encode()} for number in range(NUMBERS)))
    options = {"topic": topic, "scan.startup.mode": "earliest-offset", "scan.max-records-per-batch": "2000"}
    given = json.dumps({"options": connection | options, "files": str(files), "checkpoint": str(checkpoint)})

    def driver() -> Family:
        return Family([sys.executable, str(PROGRAM), given], tmp_path / "console")

    for _ in range(KILLS):
        done = batches(checkpoint, "commits")
        with driver() as running:

            def is_in_a_later_batch(done: set[int] = done) -> bool:
                committed = batches(checkpoint, "commits")
                return committed > done and batches(checkpoint, "offsets") > committed

            wait_until(is_in_a_later_batch, "a micro-batch to be under way")
            assert "java" in running.names()
            running.kill()
    with driver() as running:
        running.result()

    assert len(batches(checkpoint, "commits")) == NUMBERS / 2_000
    numbers = spark.read.schema("number BIGINT").parquet(str(files)).toArrow()["number"].to_pylist()
    assert Counter(numbers) == Counter(range(NUMBERS))
