"""The embedded broker, its cluster and its command, each with the real Kafka."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from millrace.errors import ClientError, MachineError
from millrace_broker import KafkaBroker, KafkaCluster, Listener
from millrace_broker.admin import wait_until
from millrace_broker.process import process_identity
from support.kafka import QUICK_BROKER

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
    producer = Producer({"bootstrap.servers": bootstrap_servers, "acks": "all", "log_level": 0})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(30) == 0


def consume(bootstrap_servers: str, topic: str, count: int, partitions: int = 1) -> list[str]:
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "unused", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    found: list[str] = []

    def complete() -> bool:
        found.extend(message.value().decode() for message in consumer.consume(count, 0.1) if not message.error())
        return len(found) >= count

    wait_until(complete, 30)
    consumer.close()
    return found


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
    assert sorted(consume(own.bootstrap_servers, "kept", 2, partitions=2)) == ["after", "before"]


@pytest.mark.nightly
def test_a_killed_broker_comes_back_with_its_data(own: KafkaBroker) -> None:
    own.create_topic("survived")
    produce(own.bootstrap_servers, "survived", "before")
    own.kill()
    assert not own.is_running
    own.start()
    assert consume(own.bootstrap_servers, "survived", 1) == ["before"]


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
    assert AdminClient({**login, "sasl.password": "secret"}).list_topics(timeout=10).brokers
    wrong = AdminClient({**login, "sasl.password": "wrong"})
    with pytest.raises(KafkaException):
        wrong.list_topics(timeout=2)


@pytest.mark.nightly
def test_two_brokers_run_side_by_side_and_leave_nothing(own: KafkaBroker) -> None:
    with KafkaBroker(java_options=QUICK_BROKER) as other:
        other.create_topic("mine")
        assert "mine" not in AdminClient({"bootstrap.servers": own.bootstrap_servers}).list_topics(timeout=10).topics
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
        assert wait_until(lambda: process_identity(int(java)) is None and process_identity(int(guard)) is None, 10)
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
        assert consume(broker.bootstrap_servers, "kept", 1) == ["before"]


@pytest.mark.nightly
def test_a_cluster_goes_on_when_the_leader_of_a_partition_is_killed() -> None:
    with KafkaCluster(brokers=3, java_options=QUICK_BROKER) as cluster:
        cluster.create_topic("copied", config={"min.insync.replicas": "2"})
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        partition = admin.list_topics("copied", timeout=10).topics["copied"].partitions[0]
        assert len(partition.replicas) == 3
        produce(cluster.bootstrap_servers, "copied", "before")
        leader = cluster.brokers[partition.leader - 1]
        leader.kill()
        produce(cluster.bootstrap_servers, "copied", "while it was down")
        leader.start()
        assert consume(leader.bootstrap_servers, "copied", 2) == ["before", "while it was down"]
        folders = [broker.data_dir for broker in cluster.brokers]
    assert not any(folder.exists() for folder in folders)


def test_the_command_starts_shows_and_stops_a_broker_that_outlives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_STATE", str(tmp_path))

    def millrace(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-c", "from millrace_cli import main; main()", "broker", *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
        return ended.returncode, ended.stdout

    assert millrace("status") == (3, "not running\n")
    try:
        code, said = millrace("start", "--port", "0")
        assert code == 0
        address = said.partition("bootstrap servers: ")[2].partition("\n")[0]
        assert AdminClient({"bootstrap.servers": address}).list_topics(timeout=10).brokers
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
        assert AdminClient({"bootstrap.servers": address}).list_topics(timeout=10).brokers
        os.kill(here.pid, signal.SIGINT)
        assert here.stdout.read().endswith("stopped\n")
        assert here.wait(20) == 0
