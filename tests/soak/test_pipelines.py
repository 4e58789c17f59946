"""Pipelines whose drivers and workers are killed at random times, while tables get columns; run by ``tox -e soak``."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from support.families import Family
from support.kafka import consume, produce
from support.workers import kill_a_worker

PROGRAM = Path(__file__).parents[1] / "programs" / "run_deadly_pipeline.py"
TABLES = 20
KILLS = int(os.environ.get("SOAK_KILLS", "20"))
ROWS = 500


@pytest.mark.timeout(3000)
def test_no_row_is_lost_or_twice_and_no_column_is_missing(connection, broker, make_topic, tmp_path):
    chance = random.Random(15)
    origin, target = make_topic(4), make_topic(4)
    servers = connection["properties.bootstrap.servers"]
    yaml = f"""
source: {{type: kafka, properties.bootstrap.servers: '{servers}', topic: {origin}, scan.startup.mode: earliest-offset}}
sink: {{type: kafka, properties.bootstrap.servers: '{servers}', topic: {target}, sink.delivery-guarantee: exactly-once,
       sink.transactional-id-prefix: {target}}}
"""
    columns = {table: ["id"] for table in range(TABLES)}
    sent: dict[int, dict] = {}

    def write() -> None:
        grown = chance.randrange(TABLES)
        columns[grown].append(f"c{len(columns[grown])}")
        messages = []
        for _ in range(ROWS):
            table, number = chance.randrange(TABLES), len(sent)
            sent[number] = {name: number if name == "id" else chance.random() for name in columns[table]}
            change = {"after": sent[number], "op": "c", "source": {"table": f"t{table}"}}
            messages.append({"value": json.dumps(change).encode(), "partition": table % 4})
        produce(broker.bootstrap_servers, origin, messages)

    def driver(*, once: bool) -> Family:
        given = {"yaml": yaml, "checkpoint": str(tmp_path / "checkpoint"), "once": once}
        return Family([sys.executable, str(PROGRAM), json.dumps(given)], tmp_path / "console")

    kills: Counter[str] = Counter()
    while kills.total() < KILLS:
        with driver(once=False) as running:
            until = chance.uniform(15, 45)
            while until > 0:
                write()
                pause = chance.uniform(0.5, 3)
                threading.Event().wait(pause)
                until -= pause
                assert running.is_running(), running.console.read_text()
                if chance.random() < 0.2:
                    kills["worker"] += kill_a_worker(running, chance)
            kills["driver"] += 1
    with driver(once=True) as running:
        running.result(300)

    written = [json.loads(message.value())["after"] for message in consume(broker.bootstrap_servers, target)]
    assert Counter(row["id"] for row in written) == Counter(sent.keys())
    for row in written:
        assert {name: value for name, value in row.items() if value is not None} == sent[row["id"]]
    print(f"{len(sent)} rows, {sum(map(len, columns.values()))} columns, {dict(kills)} killed")
