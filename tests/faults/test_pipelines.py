"""Pipelines whose driver is killed between the steps of a micro-batch that changes schemas."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from millrace_cdc.runtime.schema_state import SchemaState
from support.families import Family
from support.kafka import consume, produce
from support.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "run_deadly_pipeline.py"
POINTS = ("stored", "written", "parsed")
ROWS = 40

pytestmark = pytest.mark.usefixtures("nothing_left")


def changes(first: int, column: str):
    """Insertions into three tables, with a column of their own."""
    for number in range(first, first + ROWS):
        row = {"id": number, column: number}
        source = {"db": "shop", "table": f"t{number % 3}"}
        value = json.dumps({"before": None, "after": row, "op": "c", "source": source}).encode()
        yield {"value": value, "partition": number % 2}


def test_a_driver_killed_at_every_step_writes_each_row_once_with_all_columns(connection, broker, make_topic, tmp_path):
    origin, target, checkpoint = make_topic(2), make_topic(2), tmp_path / "checkpoint"
    servers = connection["properties.bootstrap.servers"]
    yaml = f"""
source: {{type: kafka, properties.bootstrap.servers: '{servers}', topic: {origin}, scan.startup.mode: earliest-offset,
         scan.max.pre.fetch.records: 0}}
sink: {{type: kafka, properties.bootstrap.servers: '{servers}', topic: {target}, sink.delivery-guarantee: exactly-once,
       sink.transactional-id-prefix: {target}}}
"""

    def driver(point: str | None = None) -> Family:
        given = {"yaml": yaml, "checkpoint": str(checkpoint), "point": point}
        return Family([sys.executable, str(PROGRAM), json.dumps(given)], tmp_path / "console")

    for number, point in enumerate(POINTS):
        # Each driver repeats the micro-batch of the one before, and the third goes on with another one
        if number % 2 == 0:
            produce(broker.bootstrap_servers, origin, changes(number // 2 * ROWS, f"c{number // 2}"))
        with driver(point) as running:
            wait_until(lambda running=running: not running.is_running(), f"the driver to die, {point}", 120)
            assert "Traceback" not in running.console.read_text()
    with driver() as running:
        running.result(120)

    written = [json.loads(message.value()) for message in consume(broker.bootstrap_servers, target)]
    assert sorted(each["after"]["id"] for each in written) == list(range(2 * ROWS))
    columns = {each["after"]["id"]: list(each["after"]) for each in written}
    assert [columns[number] for number in range(2 * ROWS)] == [["id", "c0"]] * ROWS + [["id", "c0", "c1"]] * ROWS
    state = SchemaState.from_text((checkpoint / "millrace-pipeline" / "2").read_text(), max_columns=10)
    assert {name: table.version for name, table in state.sinks.items()} == {f"shop.t{n}": 2 for n in range(3)}
