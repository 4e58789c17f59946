"""Exactly-once writes whose workers, drivers and brokers are killed, compared with their input record by record."""

from __future__ import annotations

from collections import Counter

import pytest

from support.copying import KILL_POINTS
from support.kafka import produce
from support.waiting import wait_until

NUMBERS = 4_000
POINTS = ["before produce", "before commit", "after commit"]


@pytest.fixture
def source(broker, make_topic):
    name = make_topic(4)
    produce(broker.bootstrap_servers, name, ({"value": str(number).encode()} for number in range(NUMBERS)))
    return name


@pytest.fixture
def copy(broker, source, make_topic, copying):
    return copying(broker.bootstrap_servers, source, make_topic(3))


@pytest.mark.parametrize("point", POINTS)
def test_killed_workers(spark, copy, point):
    spark.sparkContext.addPyFile(str(KILL_POINTS))
    copy.give_tokens(4)
    copy.start(spark, point).awaitTermination()
    assert copy.used() == 4
    assert copy.copied() == Counter(range(NUMBERS))


def test_killed_workers_lose_nothing_at_least_once(spark, copy):
    copy.guarantee = "at-least-once"
    spark.sparkContext.addPyFile(str(KILL_POINTS))
    copy.give_tokens(4)
    copy.start(spark, "before produce").awaitTermination()
    assert copy.used() == 4
    assert set(copy.copied()) == set(range(NUMBERS))


def test_killed_drivers(copy):
    for kill, point in enumerate(POINTS, start=1):
        copy.give_tokens(1)
        with copy.driver(point) as running:
            wait_until(lambda kill=kill: copy.used() == kill, f"the driver to be {point}", 120)
            running.kill()
    with copy.driver(cores=1) as running:
        running.result(120)
    assert copy.copied() == Counter(range(NUMBERS))

    # Killed after all tasks had committed, and before Spark took note of it
    commits = copy.folder / "checkpoint" / "commits"
    newest = max(int(file.name) for file in commits.iterdir() if file.name.isdigit())
    for name in (str(newest), f".{newest}.crc"):
        (commits / name).unlink(missing_ok=True)
    with copy.driver() as running:
        running.result(120)
    assert copy.copied() == Counter(range(NUMBERS))
