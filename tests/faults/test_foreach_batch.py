"""Writes inside foreachBatch whose driver is killed in and between them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.copying import KILL_POINTS
from support.families import Family
from support.kafka import consume, produce
from support.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "count_each_batch.py"
NUMBERS = 2_000
BATCHES = 4


@pytest.fixture
def topics(make_topic):
    return {"source": make_topic(2), "counts": make_topic(2), "changes": make_topic(2)}


@pytest.fixture
def counting(nothing_left, connection, topics, tmp_path):
    """Starts drivers that wait to be killed at a point, as often as there are files in its folder."""
    given = {"kill_points": str(KILL_POINTS), "checkpoint": str(tmp_path / "checkpoint")}
    given["read"] = {**connection, "topic": topics["source"], "scan.startup.mode": "earliest-offset"}
    given["read"] |= {"scan.max-records-per-batch": str(NUMBERS // BATCHES)}

    @contextmanager
    def start(point=None):
        between = tmp_path / "between"
        between.mkdir(exist_ok=True)
        for sink in ("counts", "changes"):
            given[sink] = {**connection, "topic": topics[sink], "sink.delivery-guarantee": "exactly-once"}
            given[sink]["sink.transactional-id-prefix"] = topics[sink]
            if point not in (None, "between"):
                given[sink] |= {"sink.partitioner": "kill_points:KillPoints", "sink.partitioner.ends": "wait"}
                given[sink] |= {"sink.partitioner.point": point, "sink.partitioner.tokens": str(tmp_path / point)}
        arguments = json.dumps({**given, "between": str(between)})
        with Family([sys.executable, str(PROGRAM), arguments], tmp_path / "console") as running:
            yield running

    return start


def test_each_sink_of_a_callback_gets_each_micro_batch_once(counting, topics, broker, tmp_path):
    numbers = ({"value": b"%d" % number, "partition": number % 2} for number in range(NUMBERS))
    produce(broker.bootstrap_servers, topics["source"], numbers)
    for point in ("between", "before commit", "after commit", "between"):
        folder = tmp_path / point
        folder.mkdir(exist_ok=True)
        used = len(list(folder.glob("used-*")))
        (folder / f"token-{used}").touch()
        with counting(point) as running:
            wait_until(lambda folder=folder, used=used: len(list(folder.glob("used-*"))) > used, f"to be {point}")
            running.kill()
    with counting() as running:
        running.result()

    def written(topic):
        return Counter(message.value().decode() for message in consume(broker.bootstrap_servers, topics[topic]))

    each = NUMBERS // BATCHES // 10
    assert written("counts") == Counter(f"{n}:{(batch + 1) * each}" for n in range(10) for batch in range(BATCHES))
    assert written("changes") == Counter(f"{batch}:{n}" for n in range(10) for batch in range(BATCHES))
