"""The data source on a Spark standalone cluster, whose executors are processes of their own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import millrace_cli
from support.core_suite import LOOPBACK, CoreSuite, addresses_listened_on, run_core
from support.families import Family
from support.kafka import consume
from support.spark_programs import ENVIRONMENT, ON_CLUSTER, SPARK_CLASS, standalone_cluster

PROGRAM = Path(__file__).parents[1] / "programs" / "change_quietly.py"
PARTITIONS, MICRO_BATCHES = 3, 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("standalone")


@pytest.fixture(scope="module")
def cluster(folder):
    with standalone_cluster(folder) as running:
        yield running


@pytest.mark.smoke
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
        program.result()

    results = json.loads((tmp_path / "results.json").read_text())
    stores = [len(list(folder.glob(f"host-{number}/millrace-state-*/*/boot"))) for number in range(2)]
    # Spark has placed a partition here and there
    assert sum(stores) > PARTITIONS
    source = results["source"]
    assert (source["numRecordsIn"], source["missingReports"]) == (results["written"], 0)
    assert source["stateRestores"] == sum(stores)
    assert source["stateKeys"] == 100 * PARTITIONS


class TestSqlOnAStandaloneCluster:
    def by_conf(self, cluster) -> list[str]:
        conf = {"spark.master": cluster.url, **ON_CLUSTER}
        options = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
        return [sys.executable, "-m", "millrace_cli", "sql", *options]

    def by_spark_submit(self, cluster) -> list[str]:
        options = [part for name, value in ON_CLUSTER.items() for part in ("--conf", f"{name}={value}")]
        program = str(Path(millrace_cli.__file__).with_name("__main__.py"))
        submit = [SPARK_CLASS, "org.apache.spark.deploy.SparkSubmit"]
        return [*submit, "--master", cluster.url, *options, program, "sql"]

    @pytest.mark.parametrize("way", [by_conf, by_spark_submit])
    def test_a_script_runs_on_executors(self, way, cluster, folder, broker, make_topic):
        topic = make_topic(2)
        script = folder / f"{way.__name__}.sql"
        script.write_text(
            f"""CREATE TABLE numbers (id BIGINT) WITH (
                'connector' = 'datagen', 'number-of-rows' = '100',
                'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '100'
            );
            CREATE TABLE copies (id BIGINT) WITH (
                'connector' = 'kafka', 'topic' = '{topic}', 'format' = 'csv',
                'properties.bootstrap.servers' = '{broker.bootstrap_servers}'
            );
            INSERT INTO copies SELECT id FROM numbers WHERE id > 50;
            """
        )
        command = [*way(self, cluster), "-f", str(script)]
        before = set(folder.glob("worker-*/app-*"))
        with Family(command, folder / f"{way.__name__}.log", ENVIRONMENT) as running:
            running.result()
        ids = sorted(int(message.value()) for message in consume(broker.bootstrap_servers, topic))
        assert ids == list(range(51, 101))
        # A worker keeps the logs of an application's executors
        assert set(folder.glob("worker-*/app-*")) - before
