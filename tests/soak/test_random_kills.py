"""Minutes of random kills; run by ``tox -e soak``."""

from __future__ import annotations

import os
import random
import time
from collections import Counter

import pytest

from millrace_broker import KafkaBroker
from support.copying import Copy
from support.workers import kill_a_worker
from support.writing import SteadyProducer

KILLS = int(os.environ.get("SOAK_KILLS", "20"))
SECONDS = int(os.environ.get("SOAK_SECONDS", "180"))


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("guarantee", ["exactly-once", "at-least-once"])
def test_random_kills(tmp_path, tmp_path_factory, guarantee):
    chance = random.Random(17)
    with KafkaBroker(data_dir=tmp_path_factory.mktemp("kafka")) as broker:
        for topic in ("source", "target"):
            broker.create_topic(topic, 4)
        producer = SteadyProducer(broker.bootstrap_servers, "source")
        producer.start()
        read = {"scan.max-records-per-batch": "20000"}
        copy = Copy(broker.bootstrap_servers, "source", "target", tmp_path, guarantee, read)
        kills: Counter[str] = Counter()
        until = time.monotonic() + SECONDS
        while kills.total() < KILLS or time.monotonic() < until:
            with copy.driver() as driver:
                while driver.is_running():
                    time.sleep(chance.uniform(1, 8))
                    whom = chance.choice(["worker", "worker", "worker", "driver", "broker"])
                    if whom == "worker":
                        kills[whom] += kill_a_worker(driver, chance)
                        continue
                    kills[whom] += 1
                    if whom == "driver":
                        break
                    broker.kill()
                    broker.start()
        written = producer.finish()
        with copy.driver() as driver:
            driver.result(600)
        copied = copy.copied()
    print(f"{written} numbers, {dict(kills)} killed")
    assert kills.total() >= KILLS
    if guarantee == "exactly-once":
        assert copied == Counter(range(written))
    else:
        assert set(copied) == set(range(written))
