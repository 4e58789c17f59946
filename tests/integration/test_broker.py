"""The embedded broker, its cluster and its command, each with the real Kafka."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError
from confluent_kafka.admin import AdminClient

from millrace.errors import ClientError, MachineError
from millrace_broker import KafkaBroker, KafkaCluster, Listener
from millrace_broker.process import process_identity
from support import kafka
from support.admin import admin_of, topic_names
from support.kafka import QUICK_BROKER
from support.retrying import retried
from support.waiting import PATIENCE_S, wait_until

PARENT = """
import time
from millrace_broker import KafkaBroker
broker = KafkaBroker()
broker.start()
print(broker.pid, broker.guard_pid, broker.data_dir, flush=True)
time.sleep(600)
"""

JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_ann="secret";'


def produce(bootstrap_servers: str, topic: str, *values: str) -> None:
    kafka.produce(bootstrap_servers, topic, [{"value": value} for value in values], log_level="0")


def consume(bootstrap_servers: str, topic: str) -> list[str]:
    return [message.value().decode() for message in kafka.consume(bootstrap_servers, topic)]


@pytest.fixture(scope="module")
def own() -> Iterator[KafkaBroker]:
    """A broker that may be stopped and killed, with a listener that asks for a password."""
    config = {"sasl.enabled.mechanisms": "PLAIN", "plain.sasl.jaas.config": JAAS}
    listeners = [Listener("PLAINTEXT"), Listener("SAFE", "SASL_PLAINTEXT", config=config)]
    with KafkaBroker(listeners=listeners, java_options=QUICK_BROKER) as broker:
        yield broker


@pytest.mark.nightly
def test_restart_keeps_address_and_data(own: KafkaBroker) -> None:
    own.create_topic("kept", partitions=2)
    produce(own.bootstrap_servers, "kept", "before")
    address, pid = own.bootstrap_servers, own.pid
    own.restart()
    assert (own.bootstrap_servers, own.pid != pid) == (address, True)
    produce(own.bootstrap_servers, "kept", "after")
    assert sorted(consume(own.bootstrap_servers, "kept")) == ["after", "before"]


@pytest.mark.nightly
def test_a_killed_broker_comes_back_with_its_data(own: KafkaBroker) -> None:
    own.create_topic("survived")
    produce(own.bootstrap_servers, "survived", "before")
    own.kill()
    assert not own.is_running
    own.start()
    assert consume(own.bootstrap_servers, "survived") == ["before"]


@pytest.mark.nightly
def test_topics_take_their_properties(own: KafkaBroker) -> None:
    own.create_topic("compacted", config={"cleanup.policy": "compact"})
    with pytest.raises(ClientError, match="topic 'compacted' could not be created: Topic 'compacted' already exists"):
        own.create_topic("compacted")
    with pytest.raises(ClientError, match="topic 'wrong' could not be created: Unknown topic config name: nonsense"):
        own.create_topic("wrong", config={"nonsense": "1"})


@pytest.mark.nightly
def test_a_listener_can_ask_for_a_password(own: KafkaBroker) -> None:
    login = {
        "bootstrap.servers": own.address("SAFE"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "ann",
        "log_level": 0,
    }
    right = AdminClient({**login, "sasl.password": "secret"})
    assert retried(lambda: right.list_topics(timeout=10)).brokers
    refusals: list[KafkaError] = []
    wrong = AdminClient({**login, "sasl.password": "wrong", "error_cb": refusals.append})
    wait_until(lambda: wrong.poll(0.1) or refusals, "the refusal")
    assert refusals[0].code() == KafkaError._AUTHENTICATION


@pytest.mark.nightly
def test_two_brokers_run_side_by_side_and_leave_nothing(own: KafkaBroker) -> None:
    with KafkaBroker(java_options=QUICK_BROKER) as other:
        other.create_topic("mine")
        assert "mine" not in topic_names(own.bootstrap_servers)
        pid, guard, folder = other.pid, other.guard_pid, other.data_dir
        assert pid
        assert guard
        assert folder.exists()
    assert process_identity(pid) is None
    assert process_identity(guard) is None
    assert not folder.exists()


@pytest.mark.nightly
def test_nothing_is_left_when_the_parent_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        java, guard, folder = parent.stdout.readline().split()
        assert process_identity(int(java))
        parent.kill()
        parent.wait()
        wait_until(lambda: process_identity(int(java)) is None and process_identity(int(guard)) is None, "all to end")
        assert not Path(folder).exists()


@pytest.mark.nightly
def test_a_broker_that_cannot_start_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    broker = KafkaBroker(properties={"num.partitions": "many"}, data_dir=tmp_path)
    with pytest.raises(MachineError, match=r"(?s)exited while starting, with code 1\..*num.partitions: Not a number"):
        broker.start()
    assert broker.pid is None
    assert broker.guard_pid is None


def test_a_given_data_dir_is_kept_for_the_next_broker(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path, java_options=QUICK_BROKER) as broker:
        broker.create_topic("kept")
        produce(broker.bootstrap_servers, "kept", "before")
    with KafkaBroker(data_dir=tmp_path, java_options=QUICK_BROKER) as broker:
        assert consume(broker.bootstrap_servers, "kept") == ["before"]


@pytest.mark.nightly
def test_a_cluster_goes_on_when_the_leader_of_a_partition_is_killed() -> None:
    with KafkaCluster(brokers=3, java_options=QUICK_BROKER) as cluster:
        cluster.create_topic("copied", config={"min.insync.replicas": "2"})
        admin = admin_of(cluster.bootstrap_servers)
        partition = retried(lambda: admin.list_topics("copied", timeout=10)).topics["copied"].partitions[0]
        assert len(partition.replicas) == 3
        produce(cluster.bootstrap_servers, "copied", "before")
        leader = cluster.brokers[partition.leader - 1]
        leader.kill()
        produce(cluster.bootstrap_servers, "copied", "while it was down")
        leader.start()
        assert consume(leader.bootstrap_servers, "copied") == ["before", "while it was down"]
        folders = [broker.data_dir for broker in cluster.brokers]
    assert not any(folder.exists() for folder in folders)


def test_the_command_starts_shows_and_stops_a_broker_that_outlives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_STATE", str(tmp_path))

    def millrace(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-c", "from millrace_cli import main; main()", "broker", *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
        return ended.returncode, ended.stdout

    assert millrace("status") == (3, "not running\n")
    try:
        code, said = millrace("start", "--port", "0")
        assert code == 0
        address = said.partition("bootstrap servers: ")[2].partition("\n")[0]
        assert topic_names(address) == set()
        code, again = millrace("start")
        assert (code, again.startswith("already running"), address in again) == (0, True, True)
        code, status = millrace("status")
        assert (code, address in status, "Apache Kafka 4.1.0, up 0:" in status) == (0, True, True)
    finally:
        stopped = millrace("stop")
    assert stopped == (0, f"stopped the broker at {address}\n")
    assert millrace("status") == (3, "not running\n")


@pytest.mark.nightly
def test_the_command_in_the_foreground_ends_with_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from millrace_cli import main; main()", "broker", "start", "--port", "0"]
    with subprocess.Popen([*command, "--foreground"], stdout=subprocess.PIPE, text=True) as here:
        assert here.stdout
        address = here.stdout.readline().partition("bootstrap servers: ")[2].strip()
        assert topic_names(address) == set()
        os.kill(here.pid, signal.SIGINT)
        assert here.stdout.read().endswith("stopped\n")
        assert here.wait(PATIENCE_S) == 0
