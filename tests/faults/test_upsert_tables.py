"""Streams of upsert tables whose driver and workers are killed, while their topic is compacted."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from support.compaction import Table
from support.families import Family
from support.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "save_changes.py"
KEYS, MESSAGES, BATCH = 50, 3_000, 250

# Three drivers start one after the other
pytestmark = pytest.mark.usefixtures("nothing_left")


def changes(files: Path) -> Iterator[tuple[str, int, str | None]]:
    """All changes that were saved, in order."""
    for file in sorted(files.glob("*.json"), key=lambda each: int(each.stem)):
        yield from map(tuple, json.loads(file.read_text()))


def table_of(files: Path) -> dict[int, str]:
    """The table that the changes leave; each must say what the row was before it."""
    table: dict[int, str] = {}
    pending: dict[int, str] = {}
    for kind, key, name in changes(files):
        if kind in ("-U", "-D"):
            assert table.pop(key) == name, f"{kind} {key} {name}"
        else:
            assert (key in pending) == (kind == "+U"), f"{kind} {key} {name}"
            assert key not in table, f"{kind} {key} {name}"
            table[key] = name
        pending.pop(key, None)
        if kind == "-U":
            pending[key] = name
    assert not pending
    return table


def kill_a_worker(family: Family) -> None:
    """Kill a Python worker, or the daemon that starts them."""
    for process in family.processes():
        with suppress(psutil.Error):
            if "pyspark.daemon" in " ".join(process.cmdline()) or "pyspark.worker" in " ".join(process.cmdline()):
                process.kill()
                return
    raise AssertionError("no Python worker runs")


def test_changes_are_exact_when_driver_and_workers_are_killed_and_the_topic_is_compacted(
    connection, broker, make_topic, tmp_path
):
    files, checkpoint = tmp_path / "files", tmp_path / "checkpoint"
    files.mkdir()
    # Deletes that are removed before they are read would be missed
    topic = Table(broker.bootstrap_servers, make_topic, delete_retention_ms="3600000")
    model, some = dict[int, str](), random.Random(7)
    options = {
        "connector": "upsert-kafka",
        "topic": topic.topic,
        "key.format": "json",
        "key.fields": "id",
        "value.format": "json",
        "scan.max-records-per-batch": str(BATCH),
        "state.checkpoints.dir": str(checkpoint / "state"),
        "state.backend.local-dir": str(tmp_path / "local"),
    }
    given = json.dumps({"options": connection | options, "files": str(files), "checkpoint": str(checkpoint)})

    def write() -> None:
        rows = [(some.randrange(KEYS), some.choice([None, *(f"{n}" for n in range(9))])) for _ in range(MESSAGES)]
        topic.write(*rows)
        for key, name in rows:
            model.pop(key, None)
            if name is not None:
                model[key] = name

    def saved() -> int:
        return len(list(files.glob("*.json")))

    def driver() -> Family:
        return Family([sys.executable, str(PROGRAM), given], tmp_path / "console")

    write()
    before = 0
    with driver() as running:
        wait_until(lambda: saved() > before + 1, "some micro-batches")
        kill_a_worker(running)
        wait_until(lambda: saved() > before + 3, "micro-batches after a worker was killed")
        running.kill()
    before = saved()
    write()
    with driver() as running:
        wait_until(lambda: saved() > before + 1, "micro-batches of the second driver")
        running.kill()
    write()
    topic.compact()
    shutil.rmtree(tmp_path / "local")
    model |= {-1: "marker", -2: "marker"}
    with driver() as running:
        running.result()

    assert table_of(files) == model
