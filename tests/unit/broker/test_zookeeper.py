from __future__ import annotations

from pathlib import Path

import pytest

from millrace.errors import OptionsError
from millrace_broker import KafkaBroker
from millrace_broker.listeners import Listener
from millrace_broker.node import (
    ClusterMember,
    broker_properties,
    configure_node,
    needs_zookeeper,
    zookeeper_port,
)


@pytest.mark.parametrize(("version", "needs"), [("2.8.2", True), ("3.9.2", False), ("4.1.0", False)])
def test_versions_before_controllers_of_their_own_need_zookeeper(version: str, *, needs: bool) -> None:
    assert needs_zookeeper(version) is needs


def test_a_broker_with_zookeeper_has_nothing_of_kraft(tmp_path: Path) -> None:
    config = configure_node(tmp_path, [Listener("PLAINTEXT")], {"log.retention.ms": "7"})
    entries = broker_properties(config)
    assert not {name for name in entries if "controller" in name or name in ("process.roles", "node.id")}
    assert entries["broker.id"] == "1"
    assert entries["zookeeper.connect"] == f"127.0.0.1:{zookeeper_port(config)}"
    assert entries["listeners"] == f"PLAINTEXT://{config.listeners[0].address}"
    assert entries["listener.security.protocol.map"] == "PLAINTEXT:PLAINTEXT"
    assert entries["log.retention.ms"] == "7"


def test_a_cluster_with_zookeeper_is_refused() -> None:
    member = ClusterMember(1, "cluster", {1: 9093})
    with pytest.raises(OptionsError, match=r"a cluster needs Kafka 3\.3 or newer; got '2\.8\.2'"):
        KafkaBroker(version="2.8.2", member=member).launch()
