"""The data source on a Spark standalone cluster, whose executors are processes of their own."""

from __future__ import annotations

import pytest

from support.core_suite import LOOPBACK, CoreSuite, addresses_listened_on, run_core
from support.spark_programs import ENVIRONMENT, ON_CLUSTER, standalone_cluster


@pytest.fixture(scope="class")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("standalone")


@pytest.fixture(scope="class")
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
