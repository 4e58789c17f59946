"""A worker, the broker and the driver killed, one after the other, under one query of each kind that keeps a promise.

An exactly-once copy, a grouped upsert table and a pipeline run in one driver. The other tests here kill each of them at
chosen points, again and again.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from millrace_broker import KafkaBroker
from support.copying import Copy
from support.families import Family
from support.kafka import QUICK_BROKER, consume, produce
from support.sql_drivers import latest_rows
from support.waiting import wait_until
from support.workers import kill_a_worker

PROGRAM = Path(__file__).parents[1] / "programs" / "run_three_queries.py"
RECORDS, PER_MICRO_BATCH, KEYS, COUNTRIES = 600, 40, 50, 7

pytestmark = pytest.mark.smoke


@pytest.fixture
def own(tmp_path) -> Iterator[KafkaBroker]:
    """A broker that the test kills; its data stay."""
    with KafkaBroker(data_dir=tmp_path / "kafka", java_options=QUICK_BROKER) as running:
        for topic in ("numbers", "copies", "countries", "changes", "copied-changes"):
            running.create_topic(topic, 2)
        running.create_topic("orders", 2, {"cleanup.policy": "compact"})
        yield running


class ThreeQueries:
    """Three queries in one driver, and the records that they read.

    Attributes:
        copy: The exactly-once copy of numbers.

    Args:
        servers: The brokers.
        folder: For checkpoints and other files.
    """

    def __init__(self, servers: str, folder: Path) -> None:
        self._servers, self._folder = servers, folder
        self.sent = 0
        self._ended: list[set[Path]] = []
        read = {"scan.max-records-per-batch": str(PER_MICRO_BATCH)}
        self.copy = Copy(servers, "numbers", "copies", folder, read=read)
        self.orders: dict[int, dict[str, Any]] = {}

    def send(self) -> None:
        """Write more records than some micro-batches read, to each source."""
        self._ended = self._micro_batches()
        numbers = range(self.sent, self.sent + RECORDS)
        self.sent += RECORDS
        produce(self._servers, "numbers", [{"value": b"%d" % n, "partition": n % 2} for n in numbers])
        changes = [{"after": {"id": n}, "op": "c", "source": {"db": "shop", "table": f"t{n % 2}"}} for n in numbers]
        produce(
            self._servers,
            "changes",
            [
                {"value": json.dumps(each).encode(), "partition": n % 2}
                for n, each in zip(numbers, changes, strict=True)
            ],
        )
        produce(self._servers, "orders", [self._order(n) for n in numbers])

    def _order(self, n: int) -> dict[str, Any]:
        key = n * 7 % KEYS
        value = None if n % 5 == 0 else {"id": key, "country": f"c{n % COUNTRIES}", "amount": n}
        self.orders.pop(key, None)
        if value:
            self.orders[key] = value
        encoded = None if value is None else json.dumps(value).encode()
        return {"key": b'{"id":%d}' % key, "value": encoded, "partition": key % 2}

    def driver(self, *, once: bool = False) -> Family:
        """Start the driver of all three."""
        given = {
            "once": once,
            "copy": {"read": self.copy.read_options(), "write": self.copy.write_options()},
            "sql": self._sql(once=once),
            "pipeline": {"yaml": self._pipeline(), "checkpoint": str(self._folder / "pipeline")},
        }
        return Family([sys.executable, str(PROGRAM), json.dumps(given)], self._folder / "console")

    def _sql(self, *, once: bool) -> str:
        reading = (
            "'scan.bounded.mode' = 'latest-offset'" if once else f"'scan.max-records-per-batch' = '{PER_MICRO_BATCH}'"
        )
        upsert = f"""'connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '{self._servers}',
            'key.format' = 'json', 'value.format' = 'json'"""
        return f"""
            SET 'execution.checkpointing.dir' = '{self._folder}/sql';
            CREATE TABLE orders (id INT, country STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
                'topic' = 'orders', {reading}, 'state.backend.local-dir' = '{self._folder}/local', {upsert});
            CREATE TABLE countries (country STRING, orders BIGINT, least INT, PRIMARY KEY (country) NOT ENFORCED) WITH (
                'topic' = 'countries', 'sink.delivery-guarantee' = 'exactly-once',
                'sink.transactional-id-prefix' = 'countries', {upsert});
            INSERT INTO countries SELECT country, COUNT(*), MIN(amount) FROM orders GROUP BY country"""

    def _pipeline(self) -> str:
        at = f"properties.bootstrap.servers: '{self._servers}'"
        return f"""
source: {{type: kafka, {at}, topic: changes, scan.startup.mode: earliest-offset}}
sink: {{type: kafka, {at}, topic: copied-changes, sink.delivery-guarantee: exactly-once,
       sink.transactional-id-prefix: copied-changes}}
"""

    def go_on(self, driver: Family) -> None:
        """Wait until each query has ended a micro-batch since it got more to do, and give it more."""
        wait_until(partial(self._have_gone_on, driver), "a micro-batch of each query")
        self.send()

    def _have_gone_on(self, driver: Family) -> bool:
        assert driver.is_running(), driver.console.read_text()
        return all(now - before for now, before in zip(self._micro_batches(), self._ended, strict=True))

    def _micro_batches(self) -> list[set[Path]]:
        return [set(self._folder.glob(f"{each}/commits/[0-9]*")) for each in ("checkpoint", "sql/*", "pipeline")]

    def copied_changes(self) -> Counter[tuple[str, int]]:
        """Count the rows that the pipeline has written, by table and id."""
        changes = [json.loads(message.value()) for message in consume(self._servers, "copied-changes")]
        return Counter((change["source"]["table"], change["after"]["id"]) for change in changes)

    def expected_changes(self) -> Counter[tuple[str, int]]:
        """Count the rows that were sent to the pipeline."""
        return Counter((f"t{n % 2}", n) for n in range(self.sent))

    def countries(self) -> dict[str, list[int]]:
        """Return the upsert table that the statement has written."""
        rows = (list(row.values()) for row in latest_rows(self._servers, "countries"))
        return {country: columns for country, *columns in rows}

    def expected_countries(self) -> dict[str, list[int]]:
        """Return the result of the statement over the orders as they are now."""
        amounts: dict[str, list[int]] = {}
        for row in self.orders.values():
            amounts.setdefault(row["country"], []).append(row["amount"])
        return {country: [len(each), min(each)] for country, each in amounts.items()}


def test_each_kind_of_query_is_exact_after_a_worker_the_broker_and_the_driver_were_killed(spark_home, own, tmp_path):
    queries = ThreeQueries(own.bootstrap_servers, tmp_path)
    queries.send()

    with queries.driver() as driver:
        queries.go_on(driver)
        wait_until(lambda: kill_a_worker(driver, random.Random(1)), "a worker")
        queries.go_on(driver)
        own.kill()
        own.start()
        queries.go_on(driver)
        driver.kill()
    with queries.driver(once=True) as driver:
        driver.result()

    assert queries.copy.copied() == Counter(range(queries.sent))
    assert queries.copied_changes() == queries.expected_changes()
    assert queries.countries() == queries.expected_countries()
