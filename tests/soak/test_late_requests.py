"""Exactly-once writes over connections that break, while requests of every kind arrive late, at random."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from millrace.errors import FencedError
from millrace.kafka.admin import ADMINS
from millrace.worker import RESOURCES
from support.late_requests import KINDS, TAKE_OVER, broker_behind_proxy
from support.repeated_writes import ROWS, WritingTask, expected, written

SECONDS = int(os.environ.get("SOAK_SECONDS", "180"))
SEED = int(os.environ.get("SOAK_SEED", str(random.SystemRandom().randrange(1_000_000))))
LATE = 35
"""The least number of requests that come late."""

TASKS = 2
ATTEMPTS = 4
"""Of a task, as Spark makes them."""


def write(task: WritingTask, batch: int, chance: random.Random) -> int:
    """Write a micro-batch as Spark lets tasks do, now and then in another worker or once more; count failures."""
    for attempt in range(ATTEMPTS):
        if chance.random() < 0.05:
            task.move()
        try:
            result = task.write(batch)
        except FencedError as error:
            print(f"task {task.index} of micro-batch {batch}: {error}")
            continue
        # An attempt that a late request has fenced may have committed before
        assert result.rows == ROWS or (attempt and result.is_skipped)
        if chance.random() < 0.1:
            assert task.write(batch).is_skipped
        return attempt
    raise AssertionError(f"task {task.index} of micro-batch {batch} has failed {ATTEMPTS} times")


@pytest.mark.timeout(1200)
def test_requests_of_every_kind_that_come_late_lose_and_repeat_nothing() -> None:
    print(f"SOAK_SEED={SEED}")
    chance = random.Random(SEED)
    with broker_behind_proxy() as (broker, proxy):
        broker.create_topic("late")
        tasks = [WritingTask(proxy.servers, "late", index) for index in range(TASKS)]
        batch, failures, until = 0, 0, time.monotonic() + SECONDS
        with ThreadPoolExecutor(TASKS) as pool, proxy.take_some(SEED, 0.06, spared=()) as taken:
            while time.monotonic() < until or len(taken) < LATE or set(taken) < set(KINDS.values()):
                chances = [random.Random(chance.random()) for _ in tasks]
                failures += sum(pool.map(write, tasks, [batch] * TASKS, chances))
                batch += 1
        for task in tasks:
            task.move()
            assert task.write(batch).rows == ROWS
            task.resources.close()
        kinds = Counter(taken)
        print(f"{batch + 1} micro-batches, {failures} failed attempts, {dict(kinds)} came late")
        assert written(broker, "late") == expected(range(batch + 1), TASKS)
    RESOURCES.drop(ADMINS)
    assert failures <= kinds[TAKE_OVER]
