import socket
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest

from millrace.errors import MachineError
from millrace_broker.admin import PortTakenError, await_ready, create_topic, log_tail
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


class ScriptedAdmin:
    """Answers look-ups of topics in turn."""

    def __init__(self, *answers: SimpleNamespace) -> None:
        self.answers = list(answers)

    def create_topics(self, topics: list[object], request_timeout: float) -> dict[str, Future[None]]:
        created: Future[None] = Future()
        created.set_result(None)
        return {"orders": created}

    def list_topics(self, timeout: float) -> SimpleNamespace:
        return self.answers.pop(0)


def metadata(origin: str, *leaders: int) -> SimpleNamespace:
    partitions = {number: SimpleNamespace(leader=leader, error=None) for number, leader in enumerate(leaders)}
    topics = {"orders": SimpleNamespace(error=None, partitions=partitions)} if leaders else {}
    return SimpleNamespace(orig_broker_name=origin, brokers={1: None, 2: None}, topics=topics)


def test_a_broker_knows_a_topic_by_its_own_answer_only(monkeypatch: pytest.MonkeyPatch) -> None:
    admin = ScriptedAdmin(
        metadata("127.0.0.1:22/2", 1),
        metadata("127.0.0.1:2/bootstrap"),
        metadata("127.0.0.1:2/1", -1),
        metadata("127.0.0.1:2/1", 1),
    )
    monkeypatch.setattr("millrace_broker.admin._admin_client", lambda address: admin)
    create_topic(["127.0.0.1:2"], "orders", 1, None, None)
    assert admin.answers == []
