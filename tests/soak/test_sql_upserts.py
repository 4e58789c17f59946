"""Minutes of random kills of statements over upsert tables, whose source is compacted; run by ``tox -e soak``."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter

import pytest

from support.sql_drivers import GROUPINGS, GroupedOrders, SteadyWrites
from support.workers import kill_a_worker

KILLS = int(os.environ.get("SOAK_KILLS", "15"))
SECONDS = int(os.environ.get("SOAK_SECONDS", "180"))


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("name", "guarantee"), [("sums", "exactly-once"), ("values", "at-least-once")])
def test_grouped_upserts_are_those_of_the_final_table(broker, make_topic, tmp_path, name, guarantee):
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    how = {"seed": seed, "grouping": GROUPINGS[name], "guarantee": guarantee}
    grouped = GroupedOrders(broker.bootstrap_servers, make_topic, tmp_path, **how)
    kills: Counter[str] = Counter()
    until = time.monotonic() + SECONDS
    with SteadyWrites(grouped.orders.change):
        while kills.total() < KILLS or time.monotonic() < until:
            if chance.random() < 0.3:
                # Another machine, which restores the state of the table
                shutil.rmtree(grouped.local_folder, ignore_errors=True)
            with grouped.drivers.start() as driver:
                goal = grouped.drivers.micro_batches() + chance.randrange(1, 10)
                while driver.is_running() and grouped.drivers.micro_batches() < goal:
                    time.sleep(chance.uniform(0, 8))
                    kills["worker"] += kill_a_worker(driver, chance)
                kills["driver"] += driver.is_running()
    grouped.orders.compact()
    with grouped.drivers.start(ends=True) as driver:
        driver.result(600)
    print(f"seed {seed}: {grouped.drivers.micro_batches()} micro-batches, {dict(kills)} killed")

    assert min(kills["worker"], kills["driver"]) > 0
    expected = grouped.expected()
    assert len(expected) > 10
    assert grouped.written() == expected
