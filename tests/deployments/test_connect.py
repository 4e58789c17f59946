"""The data source from a Spark Connect session, whose process has no JVM."""

from __future__ import annotations

import pytest

from support.core_suite import LOOPBACK, CoreSuite, addresses_listened_on, run_core
from support.spark_programs import connect_server


@pytest.fixture(scope="class")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("connect")


@pytest.fixture(scope="class")
def server(folder):
    with connect_server(folder) as running:
        yield running


class TestFromAConnectSession(CoreSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def results(cls, server, folder, broker, topics):
        url, _ = server
        return run_core(folder, {}, remote=url, servers=broker.bootstrap_servers, **topics)

    def test_the_server_reads(self, results, server):
        _, family = server
        assert {reader["pid"] for reader in results["readers"]} == {family.pid}

    def test_only_loopback_is_listened_on(self, server):
        _, family = server
        assert addresses_listened_on(family) == LOOPBACK
