"""Statements of SQL over upsert tables, whose drivers and workers are killed while they write."""

from __future__ import annotations

import random
import shutil

import pytest

from support.changing_table import ChangingTable, Written
from support.kafka import produce, wait_for_markers
from support.sql_drivers import GROUPINGS, GroupedOrders, SqlDrivers, SteadyWrites

# Several drivers start one after the other
pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.mark.parametrize(
    ("name", "guarantee"),
    [
        ("sums", "at-least-once"),
        ("values", "exactly-once"),
        ("counts of counts", "exactly-once"),
        ("first rows", "at-least-once"),
        ("joined rows", "exactly-once"),
        ("rows with and without partners", "at-least-once"),
        ("the first three rows", "exactly-once"),
        ("lists", "at-least-once"),
    ],
)
def test_grouped_upserts_are_those_of_the_final_table_when_driver_and_workers_are_killed_and_the_topic_is_compacted(
    broker, make_topic, tmp_path, name, guarantee
):
    chance = random.Random(11)
    how = {"seed": 11, "grouping": GROUPINGS[name], "guarantee": guarantee}
    grouped = GroupedOrders(broker.bootstrap_servers, make_topic, tmp_path, **how)
    with SteadyWrites(grouped.orders.change):
        for kills in (2, 1):
            with grouped.drivers.start() as driver:
                grouped.drivers.kill_workers(driver, chance, kills)
    grouped.orders.compact()
    # The last one restores the state of the table from its durable files
    shutil.rmtree(grouped.local_folder)
    with grouped.drivers.start(ends=True) as driver:
        driver.result()

    expected = grouped.expected()
    assert len(expected) > 10
    assert grouped.written() == expected


class ChangedRows:
    """A stream that writes the changes of a table to an upsert table.

    Args:
        servers: The brokers.
        make_topic: Makes a topic.
        folder: For checkpoints and other files.
        where: The filter of the rows.
        options: Options of the upsert table.
    """

    def __init__(self, servers, make_topic, folder, where, **options):
        self._servers, self._source, self._target = servers, make_topic(2), make_topic(3)
        self.table = ChangingTable()
        broker = f"'properties.bootstrap.servers' = '{servers}'"
        more = "".join(f", '{name}' = '{value.format(target=self._target)}'" for name, value in options.items())
        script = f"""
            CREATE TABLE changes (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
                'connector' = 'kafka', 'topic' = '{self._source}', 'format' = 'debezium-json', {{reading}},
                'scan.startup.mode' = 'earliest-offset', {broker});
            CREATE TABLE latest (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
                'connector' = 'upsert-kafka', 'topic' = '{self._target}', 'key.format' = 'csv',
                'value.format' = 'json', 'sink.parallelism' = '2', {broker}{more});
            INSERT INTO latest SELECT id, n FROM changes WHERE {where}"""
        self.drivers = SqlDrivers(folder, script)

    def change(self):
        produce(self._servers, self._source, self.table.change(40))

    def written(self):
        wait_for_markers(self._servers, self._target)
        return Written(self._servers, self._target)


def run_with_kills(changed):
    chance = random.Random(12)
    with SteadyWrites(changed.change):
        for kills in (2, 1):
            with changed.drivers.start() as driver:
                changed.drivers.kill_workers(driver, chance, kills)
    with changed.drivers.start(ends=True) as driver:
        driver.result()


def test_an_upsert_sink_writes_each_change_exactly_once_and_in_order_when_driver_and_workers_are_killed(
    broker, make_topic, tmp_path
):
    options = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "{target}"}
    changed = ChangedRows(broker.bootstrap_servers, make_topic, tmp_path, "id >= 0", **options)
    run_with_kills(changed)

    written = changed.written()
    assert len(written.rows) > 10
    assert (written.rows, written.history) == (changed.table.rows, changed.table.history)


def test_an_upsert_sink_without_exactly_once_leaves_the_latest_rows_when_driver_and_workers_are_killed(
    broker, make_topic, tmp_path
):
    buffer = {"sink.buffer-flush.max-rows": "10", "sink.buffer-flush.interval": "1 s"}
    changed = ChangedRows(broker.bootstrap_servers, make_topic, tmp_path, "n % 3 > 0", **buffer)
    run_with_kills(changed)

    expected = {key: n for key, n in changed.table.rows.items() if n % 3}
    assert len(expected) > 10
    assert changed.written().rows == expected
