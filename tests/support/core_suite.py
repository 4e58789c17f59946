"""A suite of the data source for each way to run Spark: subclass it with a fixture that runs the program there."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from millrace_broker import KafkaBroker
from support.admin import delete_topics
from support.families import Family
from support.kafka import produce

PROGRAMS = Path(__file__).parents[1] / "programs"

LOOPBACK = {"127.0.0.1"}

ORDERS: list[dict[str, Any]] = [
    {"value": b'{"id": 1, "name": "a"}', "headers": [("env", b"live")], "partition": 0},
    {"value": b'{"id": 2, "name": "b"}', "headers": [("env", b"test")], "partition": 0},
    {"value": b'{"id": 3, "name": "c"}', "headers": [("env", b"live")], "partition": 0},
    {"value": b'{"id": 4}', "headers": [("env", b"live")], "partition": 1},
]


class CoreSuite:
    """Compare the program's results with the expected ones."""

    @pytest.fixture(scope="class")
    @classmethod
    def topics(cls, broker: KafkaBroker) -> Iterator[dict[str, str]]:
        topics = {name: f"{cls.__name__}-{name}" for name in ("orders", "copies", "streamed", "built", "malformed")}
        for topic in topics.values():
            broker.create_topic(topic, 2)
        produce(broker.bootstrap_servers, topics["orders"], ORDERS)
        produce(broker.bootstrap_servers, topics["malformed"], [{"value": b'{"id": 1', "partition": 1}])
        yield topics
        delete_topics(broker.bootstrap_servers, topics.values())

    @pytest.fixture(scope="class")
    @classmethod
    def results(cls) -> dict[str, Any]:
        raise NotImplementedError("runs the program, by `run_core`")

    def test_rows_have_the_columns_of_sparks_own_connector(self, results: dict[str, Any]) -> None:
        expected = [[record["value"].decode(), record["partition"]] for record in ORDERS]
        places = [[0, 0], [1, 0], [2, 0], [0, 0]]
        assert sorted(results["kafka_columns"]) == [a + b for a, b in zip(expected, places, strict=True)]

    def test_json_is_filtered_by_headers_and_has_metadata(self, results: dict[str, Any]) -> None:
        assert sorted(results["filtered_json_with_metadata"]) == [[1, "a", 0, 0], [3, "c", 0, 2], [4, None, 1, 0]]

    def test_what_is_written_can_be_read(self, results: dict[str, Any]) -> None:
        assert results["written_and_read_back"] == [[1_000, 1_000, "n999"]]

    def test_a_stream_goes_on_from_its_checkpoint_and_another_one_from_its_group(self, results: dict[str, Any]) -> None:
        assert results["ids_of_each_stream"] == [list(range(100)), list(range(200)), list(range(200, 300))]

    def test_builders_copy_exactly_once(self, results: dict[str, Any]) -> None:
        assert results["copied_exactly_once_by_builders"] == [[1_000, 1_000]]

    def test_metrics_are_right(self, results: dict[str, Any]) -> None:
        found = results["metrics_of_a_stream"]["found"]
        counted = [(each["partition"], each["numRecordsIn"], each["currentOffset"]) for each in found["partitions"]]
        assert counted == [(0, 3, 3), (1, 1, 1)]
        assert found["numBytesIn"] == sum(len(record["value"]) for record in ORDERS)
        assert (found["pendingRecords"], found["missingReports"]) == (0, 0)
        assert results["metrics_of_a_stream"]["heard"]["pendingRecords"] == 0

    def test_every_row_is_read_with_a_file_that_is_given_by_its_name(self, results: dict[str, Any]) -> None:
        assert results["read_with_a_distributed_file"] == 1_000

    def test_every_row_is_read_and_no_jvm_that_reads_can_be_reached_from_outside(self, results: dict[str, Any]) -> None:
        assert sum(reader["rows"] for reader in results["readers"]) == 1_000
        assert {plain(address) for reader in results["readers"] for address in reader["addresses"]} <= LOOPBACK

    def test_a_malformed_message_is_told_in_one_message(self, results: dict[str, Any], topics: dict[str, str]) -> None:
        text = results["malformed_message"]
        assert text.count(f"malformed message in topic '{topics['malformed']}', partition 1, offset 0:") == 1
        assert "Traceback" not in text


def run_core(folder: Path, env: dict[str, str], program: str = "core.py", **given: Any) -> dict[str, Any]:
    """Run a program, and return its results.

    Args:
        folder: For its files.
        env: Environment variables for it.
        program: Its name.
        given: What it is told.
    """
    results = folder / f"{program}.json"
    told = json.dumps({"folder": str(folder), "results": str(results), **given})
    with Family([sys.executable, str(PROGRAMS / program), told], folder / f"{program}.log", env) as running:
        running.result()
    return dict(json.loads(results.read_text()))


def addresses_listened_on(family: Family) -> set[str]:
    """The addresses that a family's processes accept connections at."""
    addresses = set()
    for process in family.processes():
        # One that ends meanwhile does not listen any more
        with suppress(psutil.NoSuchProcess):
            found = process.net_connections("inet")
            addresses |= {plain(at.laddr.ip) for at in found if at.status == psutil.CONN_LISTEN}
    return addresses


def plain(address: str) -> str:
    """An address as it is without IPv6."""
    return address.removeprefix("::ffff:")
