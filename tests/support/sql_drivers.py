"""Statements of SQL that run in drivers of their own, which tests kill, and the upsert tables that they write."""

from __future__ import annotations

import json
import random
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Self

from support.checkpoints import count_micro_batches
from support.compaction import Table
from support.families import Family
from support.kafka import consume, wait_for_markers
from support.waiting import PATIENCE_S, wait_until
from support.workers import kill_a_worker

PROGRAM = Path(__file__).parents[1] / "programs" / "run_sql.py"


class SqlDrivers:
    """Drivers that run the same streams, one after the other, and go on from where the one before them was.

    Args:
        folder: For checkpoints and other files.
        script: CREATE TABLE and INSERT INTO. A ``{reading}`` among the options of a source limits its micro-batches, or
            lets it end.
    """

    def __init__(self, folder: Path, script: str) -> None:
        self._folder = folder
        self._script = f"SET 'execution.checkpointing.dir' = '{folder}/checkpoints';\n{script}"

    def start(self, *, ends: bool = False) -> Family:
        """Start a driver, which ends with what the sources have, or never."""
        reading = "'scan.bounded.mode' = 'latest-offset'" if ends else "'scan.max-records-per-batch' = '300'"
        command = [sys.executable, str(PROGRAM), self._script.replace("{reading}", reading)]
        return Family(command, self._folder / "console")

    def micro_batches(self) -> int:
        """Count the micro-batches of all streams that have ended."""
        return sum(map(count_micro_batches, self._folder.glob("checkpoints/*")))

    def kill_workers(self, driver: Family, chance: random.Random, kills: int) -> None:
        """Kill workers of a driver at random times, each after a further micro-batch, and return after another one."""
        for _ in range(kills):
            self._wait_for_micro_batches(driver, chance.uniform(0, 1))
            wait_until(lambda: kill_a_worker(driver, chance), "a worker")
        self._wait_for_micro_batches(driver, chance.uniform(0, 1))

    def _wait_for_micro_batches(self, driver: Family, delay_s: float) -> None:
        before = self.micro_batches()

        def is_further() -> bool:
            assert driver.is_running(), driver.console.read_text()
            return self.micro_batches() > before

        wait_until(is_further, "a micro-batch")
        # A kill may come at any moment of the next one
        threading.Event().wait(delay_s)


class SteadyWrites(threading.Thread):
    """A thread that writes again and again, until it is stopped.

    Args:
        write: Writes something.
    """

    def __init__(self, write: Callable[[], None]) -> None:
        super().__init__()
        self._write = write
        self._stopping = threading.Event()
        self._failures: list[Exception] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self.join(PATIENCE_S)
        assert not self.is_alive(), "a write does not end"
        if self._failures:
            raise self._failures[0]

    def run(self) -> None:
        try:
            while not self._stopping.wait(0.2):
                self._write()
        except Exception as error:
            self._failures.append(error)


class ChangingOrders:
    """Orders in a compacted topic that are changed and deleted at random.

    Args:
        table: The topic.
        seed: Of the changes.
    """

    KEYS = 60
    COUNTRIES = "abcdefghijklmnopqrstuvwxyz"

    def __init__(self, table: Table, seed: int) -> None:
        self._table = table
        self._chance = random.Random(seed)
        self._written = 0

    def change(self, times: int = 20) -> None:
        """Change some orders."""
        self._table.write(*(self._change() for _ in range(times)))
        self._written += times

    def _change(self) -> tuple[int, dict[str, Any] | None]:
        chance = self._chance
        row = {"country": chance.choice(self.COUNTRIES), "amount": chance.randrange(9)}
        return chance.randrange(self.KEYS), None if chance.random() < 0.3 else row

    def compact(self) -> None:
        """Compact the topic, of which most is gone already, until it has nothing but the last message of each key."""
        wait_until(
            lambda: len(consume(self._table.servers, self._table.topic)) < self._written / 2,
            "the compaction of what was written before",
        )
        self._table.compact()


class Grouping(NamedTuple):
    """A grouped query over orders.

    Attributes:
        columns: Its columns beside the country, with their types.
        query: The query.
        of_amounts: The same of the amounts of a country, in Python.
    """

    columns: str
    query: str
    of_amounts: Callable[[list[int]], list[Any]]


_GROUPED = "SELECT country, {} FROM orders WHERE country IS NOT NULL GROUP BY country"

GROUPINGS = {
    # The first has sums, which Spark keeps; the second what needs all values of a group; others what reads such results
    "sums": Grouping(
        "orders BIGINT, amount BIGINT",
        _GROUPED.format("COUNT(*), SUM(amount)"),
        lambda amounts: [len(amounts), sum(amounts)],
    ),
    "values": Grouping(
        "least INT, most INT, amounts BIGINT",
        _GROUPED.format("MIN(amount), MAX(amount), COUNT(DISTINCT amount)"),
        lambda amounts: [min(amounts), max(amounts), len(set(amounts))],
    ),
    "counts of counts": Grouping(
        "most BIGINT, amounts BIGINT",
        "SELECT country, MAX(n), COUNT(*) FROM (SELECT country, amount, COUNT(*) AS n FROM orders "
        "WHERE country IS NOT NULL GROUP BY country, amount) GROUP BY country",
        lambda amounts: [max(Counter(amounts).values()), len(set(amounts))],
    ),
    "first rows": Grouping(
        "amount INT",
        "SELECT country, amount FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY country ORDER BY amount DESC) AS rn "
        "FROM orders WHERE country IS NOT NULL) WHERE rn = 1",
        lambda amounts: [max(amounts)],
    ),
    "joined rows": Grouping(
        "pairs BIGINT, amount BIGINT",
        "SELECT country, COUNT(*), SUM(amount) FROM (SELECT a.country, a.amount FROM orders AS a JOIN orders AS b "
        "ON a.country = b.country AND a.amount = b.amount) GROUP BY country",
        lambda amounts: [
            sum(count**2 for count in Counter(amounts).values()),
            sum(amount * count**2 for amount, count in Counter(amounts).items()),
        ],
    ),
    "rows with and without partners": Grouping(
        "all_rows BIGINT, low BIGINT, high BIGINT",
        "SELECT country, COUNT(*), COUNT(low), COUNT(high) FROM (SELECT COALESCE(a.country, b.country) AS country, "
        "a.amount AS low, b.amount AS high FROM (SELECT * FROM orders WHERE amount < 5) AS a "
        "FULL JOIN (SELECT * FROM orders WHERE amount > 2) AS b ON a.country = b.country AND a.amount = b.amount) "
        "GROUP BY country",
        lambda amounts: _outer_counts(
            Counter(amount for amount in amounts if amount < 5), Counter(amount for amount in amounts if amount > 2)
        ),
    ),
    "the first three rows": Grouping(
        "amount BIGINT, least INT, amounts BIGINT",
        "SELECT country, SUM(amount), MIN(amount), COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER "
        "(PARTITION BY country ORDER BY amount DESC) AS rn FROM orders WHERE country IS NOT NULL) WHERE rn <= 3 "
        "GROUP BY country",
        lambda amounts: [sum(_first_three(amounts)), min(_first_three(amounts)), len(_first_three(amounts))],
    ),
    # Rows of two partitions come in any order
    "lists": Grouping(
        "amounts STRING",
        "SELECT country, ARRAY_JOIN(ARRAY_SORT(SPLIT(amounts, ',')), ',') FROM (SELECT country, "
        "LISTAGG(CAST(amount AS STRING)) AS amounts FROM orders WHERE country IS NOT NULL GROUP BY country)",
        lambda amounts: [",".join(map(str, sorted(amounts)))],
    ),
}


def _outer_counts(low: Counter[int], high: Counter[int]) -> list[int]:
    """Count the rows of a full join by amounts, and those that have a row of each side."""
    pairs = sum(low[amount] * high[amount] for amount in low)
    of_low = pairs + sum(count for amount, count in low.items() if amount not in high)
    of_high = pairs + sum(count for amount, count in high.items() if amount not in low)
    return [of_low + of_high - pairs, of_low, of_high]


def _first_three(amounts: list[int]) -> list[int]:
    return sorted(amounts)[-3:]


class GroupedOrders:
    """A stream that groups the orders of an upsert table by country, and writes the groups to another upsert table.

    Args:
        servers: The brokers.
        make_topic: Makes a topic.
        folder: For checkpoints and other files.
        seed: Of the changes.
        grouping: The query.
        guarantee: The delivery guarantee.
    """

    def __init__(
        self,
        servers: str,
        make_topic: Callable[..., str],
        folder: Path,
        *,
        seed: int,
        grouping: Grouping,
        guarantee: str,
    ) -> None:
        self._servers, self._grouping = servers, grouping
        # Deletes that are removed before they are read would be missed
        table = Table(servers, make_topic, partitions=2, delete_retention_ms="3600000")
        self._source, self._target = table.topic, make_topic(2)
        self.orders = ChangingOrders(table, seed)
        self.local_folder = folder / "local"
        self.drivers = SqlDrivers(folder, self._script(guarantee))

    def _script(self, guarantee: str) -> str:
        upsert = f"""'connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '{self._servers}',
            'key.format' = 'json', 'value.format' = 'json'"""
        delivery = f"'sink.delivery-guarantee' = '{guarantee}'"
        if guarantee == "exactly-once":
            delivery += f", 'sink.transactional-id-prefix' = '{self._target}'"
        return f"""
            CREATE TABLE orders (id INT, country STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
                'topic' = '{self._source}', {{reading}},
                'state.backend.local-dir' = '{self.local_folder}', {upsert});
            CREATE TABLE countries (country STRING, {self._grouping.columns}, PRIMARY KEY (country) NOT ENFORCED)
                WITH ('topic' = '{self._target}', {delivery}, {upsert});
            INSERT INTO countries {self._grouping.query}"""

    def expected(self) -> dict[str, list[Any]]:
        """Return the result of the query over the table as it is now, by country."""
        amounts = defaultdict[str, list[int]](list)
        for row in latest_rows(self._servers, self._source):
            # The markers of a compaction have none
            if "country" in row:
                amounts[row["country"]].append(row["amount"])
        return {country: self._grouping.of_amounts(each) for country, each in amounts.items()}

    def written(self) -> dict[str, list[Any]]:
        """Return the table that the stream has written, by country."""
        rows = latest_rows(self._servers, self._target)
        return {country: columns for country, *columns in (row.values() for row in rows)}


def latest_rows(servers: str, topic: str) -> list[dict[str, Any]]:
    """Return the rows of a table whose topic has the latest of each key."""
    wait_for_markers(servers, topic)
    values = {message.key(): message.value() for message in consume(servers, topic)}
    return [json.loads(value) for value in values.values() if value is not None]
