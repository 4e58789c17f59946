"""The data source, and SQL, from a Spark Connect session, whose process has no JVM."""

from __future__ import annotations

import pytest

from support.admin import delete_topics
from support.core_suite import LOOPBACK, CoreSuite, addresses_listened_on, run_core
from support.spark_programs import connect_server


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("connect")


@pytest.fixture(scope="module")
def server(folder):
    with connect_server(folder) as running:
        yield running


@pytest.mark.smoke
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


@pytest.mark.smoke
class TestSqlFromAConnectSession:
    @pytest.fixture(scope="class")
    @classmethod
    def results(cls, server, folder, broker):
        url, _ = server
        topics = {name: f"{cls.__name__}-{name}" for name in ("orders", "large", "totals")}
        for topic in topics.values():
            broker.create_topic(topic)
        yield run_core(folder, {}, "connect_sql.py", remote=url, servers=broker.bootstrap_servers, **topics)
        delete_topics(broker.bootstrap_servers, topics.values())

    def test_batches_write_and_read(self, results):
        assert results["batches"] == [[2, "Rome"], [3, "Oslo"]]

    def test_streams_write_rows_and_replace_groups(self, results):
        assert results["streams"] == {
            "large": [[2, "Rome"], [3, "Oslo"]],
            "totals": [["Oslo", 200], ["Rome", 200]],
        }

    def test_what_needs_the_driver_for_each_micro_batch_is_refused_in_one_sentence(self, results):
        because = "takes each micro-batch in this process, and a session of Spark Connect runs streams on its server"
        assert [error.partition(f" {because}: ")[0] for error in results["refused"]] == [
            "the result of a stream",
            "the connector 'print'",
            "a join with the current rows of a table",
        ]
        assert all("\n" not in error for error in results["refused"])
