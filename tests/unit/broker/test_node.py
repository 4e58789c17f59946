import socket
import uuid
from pathlib import Path

import pytest

from millrace.errors import MachineError, OptionsError
from millrace_broker.listeners import Listener
from millrace_broker.node import (
    ClusterMember,
    NodeConfig,
    configure_node,
    format_data_folder,
    new_id,
    server_properties,
    write_config_files,
)


def test_every_listener_gets_a_port_of_its_own(tmp_path: Path) -> None:
    config = configure_node(tmp_path, [Listener("A", "SSL"), Listener("B", "SASL_PLAINTEXT")], {})
    ports = [*(listener.port for listener in config.all_listeners), *config.member.voters.values()]
    assert len(set(ports)) == 4
    assert all(ports)


def test_a_listener_without_security_is_the_internal_one_too(tmp_path: Path) -> None:
    config = configure_node(tmp_path, [Listener("SAFE", "SSL"), Listener("PLAINTEXT")], {})
    assert config.internal == config.listeners[1]


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(MachineError, match=f"port {port} of listener PLAINTEXT is taken by another program"):
            configure_node(tmp_path, [Listener("PLAINTEXT", port=port)], {})


def test_listeners_of_the_same_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionsError, match="listener names must differ; used more than once: A"):
        configure_node(tmp_path, [Listener("A"), Listener("a")], {})


def config_of(folder: Path, *listeners: Listener, **properties: str) -> NodeConfig:
    return configure_node(folder, listeners or (Listener("PLAINTEXT"),), properties)


def test_one_broker_has_one_copy_of_everything(tmp_path: Path) -> None:
    entries = server_properties(config_of(tmp_path))
    assert {value for key, value in entries.items() if key.endswith("replication.factor")} == {"1"}


def test_three_brokers_have_three_copies_and_name_all_voters(tmp_path: Path) -> None:
    config = configure_node(tmp_path, [Listener("PLAINTEXT")], {}, ClusterMember(2, "id", {1: 11, 2: 12, 3: 13}))
    entries = server_properties(config)
    assert entries["default.replication.factor"] == "3"
    assert entries["controller.quorum.voters"] == "1@127.0.0.1:11,2@127.0.0.1:12,3@127.0.0.1:13"
    assert entries["listeners"].endswith(",CONTROLLER://127.0.0.1:12")


def test_a_listeners_properties_hold_for_it_alone(tmp_path: Path) -> None:
    secure = Listener("Secure", "SASL_SSL", "localhost", config={"sasl.enabled.mechanisms": "PLAIN"})
    config = config_of(tmp_path, secure)
    entries = server_properties(config)
    assert entries["listener.name.secure.sasl.enabled.mechanisms"] == "PLAIN"
    assert entries["listeners"].startswith(
        f"Secure://localhost:{config.listeners[0].port},MILLRACE_INTERNAL://127.0.0.1:"
    )
    assert "Secure:SASL_SSL,MILLRACE_INTERNAL:PLAINTEXT," in entries["listener.security.protocol.map"]


def test_given_properties_win(tmp_path: Path) -> None:
    config = config_of(tmp_path, **{"auto.create.topics.enable": "true"})
    assert server_properties(config)["auto.create.topics.enable"] == "true"


def test_values_are_written_with_javas_escapes(tmp_path: Path) -> None:
    config = config_of(tmp_path, secret="a\\b\né")
    write_config_files(config, server_properties(config))
    assert "secret=a\\\\b\\n\\u00e9\n" in (tmp_path / "server.properties").read_text()
    assert (tmp_path / "server.properties").stat().st_mode & 0o777 == 0o600


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "bootstrap.checkpoint"
    path.write_bytes(b"record")
    return path


def test_a_new_folder_gets_its_ids_and_the_record(tmp_path: Path, template: Path) -> None:
    format_data_folder(tmp_path / "data", template, ClusterMember(2, "the-cluster", {}))
    meta = (tmp_path / "data" / "meta.properties").read_text()
    assert "version=1\ncluster.id=the-cluster\nnode.id=2\ndirectory.id=" in meta
    assert (tmp_path / "data" / "bootstrap.checkpoint").read_bytes() == b"record"


def test_a_formatted_folder_keeps_its_ids(tmp_path: Path, template: Path) -> None:
    format_data_folder(tmp_path / "data", template, ClusterMember(1, "one", {}))
    before = (tmp_path / "data" / "meta.properties").read_text()
    format_data_folder(tmp_path / "data", template, ClusterMember(1, "two", {}))
    assert (tmp_path / "data" / "meta.properties").read_text() == before


def test_the_folder_of_another_node_is_refused(tmp_path: Path, template: Path) -> None:
    format_data_folder(tmp_path / "data", template, ClusterMember(1, "one", {}))
    with pytest.raises(MachineError, match="holds the data of Kafka node 1, not of node 2; use another data_dir"):
        format_data_folder(tmp_path / "data", template, ClusterMember(2, "one", {}))


def test_ids_have_kafkas_form() -> None:
    assert len(new_id()) == 22
    assert new_id() != new_id()


def test_an_id_never_begins_with_a_hyphen(monkeypatch: pytest.MonkeyPatch) -> None:
    # 0xF8 is 62 in the first six bits, which base64 writes as a hyphen
    drawn = iter([uuid.UUID(bytes=b"\xf8" + bytes(15)), uuid.UUID(bytes=b"\xf4" + bytes(15))])
    monkeypatch.setattr(uuid, "uuid4", lambda: next(drawn))

    assert new_id() == "9" + "A" * 21
