import socket
from pathlib import Path

import pytest

from millrace.errors import MachineError
from millrace_broker.admin import PortTakenError, await_ready, log_tail
from millrace_broker.installation import DEFAULT_VERSION
from millrace_broker.listeners import Listener
from millrace_broker.node import NodeConfig, configure_node, zookeeper_port


@pytest.fixture
def config(tmp_path: Path) -> NodeConfig:
    return configure_node(tmp_path, [Listener("PLAINTEXT")], {})


def test_the_lines_of_the_log_that_explain_a_failure_are_shown(config: NodeConfig) -> None:
    config.log_file.write_text(
        "2026 INFO fine (kafka)\n2026 ERROR no room (kafka)\njava.io.IOException: disk\n\tat x.y\n"
    )
    assert log_tail(config).endswith("\n    2026 ERROR no room (kafka)\n    java.io.IOException: disk")


def test_without_a_log_javas_output_is_shown(config: NodeConfig) -> None:
    config.console_file.write_text("Unrecognized option: -XX:+Nonsense\n")
    assert "Unrecognized option: -XX:+Nonsense" in log_tail(config)


def test_a_process_that_has_ended_is_an_error_with_its_code(config: NodeConfig) -> None:
    with pytest.raises(MachineError, match="exited while starting, with code 7"):
        await_ready(config, lambda: 7, frozenset([1]), ports=[])


@pytest.mark.parametrize("index", [0, 1])
def test_a_taken_port_is_told_apart(config: NodeConfig, index: int) -> None:
    ports = config.ports(DEFAULT_VERSION)
    with (
        socket.create_server(("127.0.0.1", ports[index])),
        pytest.raises(PortTakenError, match=f"another program has its port {ports[index]}"),
    ):
        await_ready(config, lambda: 1, frozenset([1]), ports)


def test_a_zookeepers_port_is_not_its_brokers(config: NodeConfig) -> None:
    assert set(config.ports(DEFAULT_VERSION)) - set(config.ports("2.8.2")) == {zookeeper_port(config)}


def test_something_else_on_the_port_is_not_a_broker(config: NodeConfig) -> None:
    with (
        socket.create_server((config.internal.host, config.internal.port)),
        pytest.raises(MachineError, match=r"was not ready after 0\.1 seconds"),
    ):
        await_ready(config, lambda: None, frozenset([1]), ports=[], timeout=0.1, metadata_timeout=0.1)
