"""Bytes of topics, of a cluster with several brokers."""

from __future__ import annotations

import pytest

from millrace.errors import ClientError
from millrace.options.secrets import Properties
from millrace.sampling import TopicInspector
from millrace_broker import KafkaCluster
from support.kafka import QUICK_BROKER, produce
from support.waiting import wait_until

pytestmark = pytest.mark.nightly


def test_bytes_are_those_of_all_replicas_and_unknown_while_a_broker_is_down() -> None:
    with KafkaCluster(brokers=2, java_options=QUICK_BROKER) as cluster:
        cluster.create_topic("copied", 3, config={"min.insync.replicas": "2"})
        produce(cluster.bootstrap_servers, "copied", [{"value": b"x" * 1_000, "partition": 1}] * 20)
        logs = [log for broker in cluster.brokers for log in broker.data_dir.rglob("copied-*/*.log")]
        inspector = TopicInspector(Properties({"bootstrap.servers": cluster.bootstrap_servers}))

        def is_whole() -> bool:
            # A replica may get the last batch a moment after it was acknowledged
            return inspector.sizes()["copied"] == sum(log.stat().st_size for log in logs) > 40_000

        assert len(logs) == 6
        wait_until(is_whole, "the bytes of both replicas")
        cluster.brokers[1].kill()
        with pytest.raises(ClientError, match="broker 2 "):
            inspector.sizes()
