"""The data source on a Spark standalone cluster, whose executors are processes of their own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support.core_suite import LOOPBACK, CoreSuite, addresses_listened_on, run_core
from support.families import Family
from support.spark_programs import ENVIRONMENT, ON_CLUSTER, standalone_cluster

PROGRAM = Path(__file__).parents[1] / "programs" / "change_quietly.py"
PARTITIONS, MICRO_BATCHES = 3, 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("standalone")


@pytest.fixture(scope="module")
def cluster(folder):
    with standalone_cluster(folder) as running:
        yield running


class TestOnAStandaloneCluster(CoreSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def results(cls, cluster, folder, broker, topics):
        distributed = folder / "distributed" / "file-of-this-test.pem"
        distributed.parent.mkdir()
        distributed.write_text("what a client without encryption does not read")
        config = {**ON_CLUSTER, "spark.files": str(distributed)}
        told = {"servers": broker.bootstrap_servers, "file": distributed.name, **topics}
        return run_core(folder, ENVIRONMENT, master=cluster.url, config=config, **told)

    def test_both_executors_read_in_processes_of_their_own(self, results):
        readers = results["readers"]
        assert all("CoarseGrainedExecutorBackend" in reader["command"] for reader in readers)
        assert len({reader["pid"] for reader in readers}) == 2

    def test_only_loopback_is_listened_on(self, cluster):
        for family in cluster.families:
            assert addresses_listened_on(family) == LOOPBACK


def test_a_quiet_stream_of_a_table_restores_its_state_once_on_each_host(cluster, folder, broker, make_topic, tmp_path):
    given = {"master": cluster.url, "config": ON_CLUSTER, "servers": broker.bootstrap_servers, "rows": 100}
    given |= {"topic": make_topic(PARTITIONS), "partitions": PARTITIONS, "micro_batches": MICRO_BATCHES}
    given |= {"folder": str(tmp_path), "results": str(tmp_path / "results.json")}
    with Family([sys.executable, str(PROGRAM), json.dumps(given)], tmp_path / "console", ENVIRONMENT) as program:
        program.result(180)

    results = json.loads((tmp_path / "results.json").read_text())
    stores = [len(list(folder.glob(f"host-{number}/millrace-state-*/*/boot"))) for number in range(2)]
    # Spark has placed a partition here and there
    assert sum(stores) > PARTITIONS
    source = results["source"]
    assert (source["numRecordsIn"], source["missingReports"]) == (results["written"], 0)
    assert source["stateRestores"] == sum(stores)
    assert source["stateKeys"] == 100 * PARTITIONS
