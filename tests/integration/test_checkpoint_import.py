"""A query with state goes on with millrace where it was with Spark's own Kafka connector."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from bench.connector_jars import connector_jars

from support.command_line import run_command
from support.kafka import produce

pytestmark = pytest.mark.spark_connector

PROGRAM = Path(__file__).parents[1] / "programs" / "carry_state.py"
PAGE = Path(__file__).parents[2] / "docs" / "from-spark-kafka.md"
FIRST_TIME = datetime(2026, 1, 1, 10)
RECORDS = 400
"""Records written before the import, and again after it: ten minutes of event time either time."""

ROCKSDB = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
}
CHANGELOG = {**ROCKSDB, "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true"}
SETTINGS = {
    "rocksdb": ROCKSDB,
    "changelog": CHANGELOG,
    "offset_log_v2": {"spark.sql.streaming.offsetLog.formatVersion": "2"},
    "commit_log_v2": {**CHANGELOG, "spark.sql.streaming.stateStore.checkpointFormatVersion": "2"},
}
OTHERS = [("deduplication", {}), ("join", {}), *(("windows", settings) for settings in SETTINGS.values())]


class Queries:
    """Runs queries in a session that has both connectors."""

    def __init__(self, servers: str) -> None:
        command = [sys.executable, str(PROGRAM), servers, ",".join(map(str, connector_jars()))]
        pipe = subprocess.PIPE
        self._program = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def run(self, **given: Any) -> None:
        """Run a query until it has read all there is."""
        self._program.stdin.write(f"{json.dumps(given, default=str)}\n")
        self._program.stdin.flush()
        assert self._program.stdout.readline() == "ended\n"

    def stop(self) -> None:
        """End the session."""
        self._program.communicate(timeout=60)


@pytest.fixture(scope="module")
def queries(broker, spark_home):
    running = Queries(broker.bootstrap_servers)
    yield running
    running.stop()


def records(first: int) -> list[dict[str, Any]]:
    """Records in order of time; those after the import have new ids, and ids of records before it."""
    rows = (
        {"id": n % 600, "kind": "abc"[n % 3], "amount": n, "at": str(FIRST_TIME + timedelta(seconds=1.5 * n))}
        for n in range(first, first + RECORDS)
    )
    return [{"value": json.dumps(row).encode(), "partition": row["id"] % 2} for row in rows]


def rows(folder: Path) -> list[str]:
    """The rows that Spark's sink of files has committed."""
    files = {
        json.loads(line)["path"].removeprefix("file://")
        for log in (folder / "_spark_metadata").glob("[0-9]*")
        for line in log.read_text().splitlines()[1:]
    }
    return sorted(line for file in files for line in Path(file).read_text().splitlines())


def documented_import(old: Path, new: Path) -> list[str]:
    """The command of the docs, with other folders."""
    (command,) = re.findall(r"^millrace (checkpoint import \S+ \S+)$", PAGE.read_text(), re.MULTILINE)
    *words, _, _ = command.split()
    return [*words, str(old), str(new)]


@pytest.fixture
def compare(queries, broker, make_topic, tmp_path):
    """Imports a query between two runs, and compares its rows with those of an uninterrupted one."""

    def compare(query: str, conf: dict[str, str]) -> None:
        topics = [make_topic(2) for _ in range(2 if query == "join" else 1)]
        given = {"query": query, "topics": topics, "conf": conf}
        for topic in topics:
            produce(broker.bootstrap_servers, topic, records(0))
        queries.run(**given, connector="kafka", checkpoint=tmp_path / "old", out=tmp_path / "rows")
        before = rows(tmp_path / "rows")
        done = run_command(*documented_import(tmp_path / "old", tmp_path / "new"))
        assert (done.exit_code, done.output.startswith("copied ")) == (0, True), done.output

        for topic in topics:
            produce(broker.bootstrap_servers, topic, records(RECORDS))
        queries.run(**given, connector="millrace", checkpoint=tmp_path / "new", out=tmp_path / "rows")
        queries.run(**given, connector="kafka", checkpoint=tmp_path / "uninterrupted", out=tmp_path / "whole")
        assert rows(tmp_path / "rows") == rows(tmp_path / "whole")
        assert len(rows(tmp_path / "whole")) > len(before) > 10

    return compare


def test_windows_go_on_where_they_were(compare):
    compare("windows", {})


@pytest.mark.nightly
@pytest.mark.parametrize(("query", "conf"), OTHERS, ids=["deduplication", "join", *SETTINGS])
def test_a_query_with_state_goes_on_where_it_was(compare, query, conf):
    compare(query, conf)


@pytest.mark.nightly
def test_a_micro_batch_that_is_not_complete_is_repeated_where_that_is_asked_for(queries, broker, make_topic, tmp_path):
    topic, old, out = make_topic(2), tmp_path / "old", tmp_path / "rows"
    given = {"query": "windows", "topics": [topic], "conf": {}}
    produce(broker.bootstrap_servers, topic, records(0))
    queries.run(**given, connector="kafka", checkpoint=old, out=out)
    whole = rows(out)
    # As if the driver had been killed in the first micro-batch with data
    for log in (old / "offsets", old / "commits", out / "_spark_metadata"):
        for file in log.iterdir():
            if log.name != "offsets" or file.name not in ("0", ".0.crc"):
                file.unlink()
    refused = run_command("checkpoint", "import", old, tmp_path / "new")
    assert refused.exit_code == 1
    assert f"micro-batch 0 of the query is not complete: its records ({topic}-0 [its beginning, " in refused.output
    assert not (tmp_path / "new").exists()
    assert run_command("checkpoint", "import", old, tmp_path / "new", "--repeat-uncommitted").exit_code == 0
    queries.run(**given, connector="millrace", checkpoint=tmp_path / "new", out=out)
    assert rows(out) == whole
