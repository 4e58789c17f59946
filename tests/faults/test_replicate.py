"""A folder that is kept in step with a topic, whose driver is killed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from millrace_catalog import KafkaJsonCatalog, ParquetSink, replicate
from support.families import Family
from support.kafka import produce
from support.waiting import PATIENCE_S, wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "replicate_and_die.py"
IN_APPEND = {"move": ["_millrace/appended/", 1]}
IN_REWRITE = {"delete": ["part-", 1]}

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_nothing_is_lost_or_repeated_by_kills_amid_an_append_and_a_rewrite(
    spark, connection, broker, make_topic, tmp_path
):
    topic, folder = make_topic(2), tmp_path / "table"

    def write(numbers, value):
        rows = [{"id": number, "value": value(number)} for number in numbers]
        values = [json.dumps(row).encode() for row in rows]
        messages = [{"value": each, "partition": place % 2} for place, each in enumerate(values)]
        produce(broker.bootstrap_servers, topic, messages)

    def killed(kill):
        given = {"options": connection, "topic": topic, "folder": str(folder), "checkpoint": f"{tmp_path}/checkpoint"}
        with Family(
            [sys.executable, str(PROGRAM), json.dumps({**given, "kill": kill})], tmp_path / "console"
        ) as driver:
            wait_until(lambda: not driver.is_running(), "the driver to end")
            with pytest.raises(AssertionError):
                driver.result()

    def files():
        return list(folder.glob("part-*.parquet"))

    write(range(100), lambda number: number)
    killed(IN_APPEND)
    # Of several
    assert len(files()) == 1

    catalog = KafkaJsonCatalog.from_options(connection)
    table = catalog.table(topic)
    write(range(100, 200), lambda number: number + 0.5)
    killed(IN_REWRITE)
    assert (folder / "_millrace" / "swap.json").exists()

    query = replicate(
        table,
        ParquetSink(str(folder)),
        spark=spark,
        checkpoint_location=f"{tmp_path}/checkpoint",
        trigger={"availableNow": True},
    )
    assert query.await_termination(PATIENCE_S)
    catalog.refresh()
    expected = catalog.table(topic).read(spark).orderBy("partition", "offset").collect()
    assert len(expected) == 200
    assert spark.read.parquet(str(folder)).orderBy("partition", "offset").collect() == expected
