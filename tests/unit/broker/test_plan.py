import socket
from pathlib import Path

import pytest

from millrace.errors import MachineError, OptionsError
from millrace_broker import Listener
from millrace_broker.plan import make_plan
from millrace_broker.ports import free_ports, is_free


def test_every_listener_gets_a_port_of_its_own(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, [Listener("A", "SSL"), Listener("B", "SASL_PLAINTEXT")], {})
    ports = [*(listener.port for listener in plan.all_listeners), *plan.seat.voters.values()]
    assert len(set(ports)) == 4
    assert all(ports)


def test_a_listener_without_security_is_the_internal_one_too(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, [Listener("SAFE", "SSL"), Listener("PLAINTEXT")], {})
    assert plan.internal == plan.listeners[1]


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(MachineError, match=f"port {port} of listener PLAINTEXT is taken by another program"):
            make_plan(tmp_path, [Listener("PLAINTEXT", port=port)], {})


def test_listeners_of_the_same_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionsError, match="listener names must differ; these are taken: A"):
        make_plan(tmp_path, [Listener("A"), Listener("a")], {})


@pytest.mark.parametrize(
    ("listener", "message"),
    [
        ({"name": "a-b"}, "letters, digits and '_'"),
        ({"name": "controller"}, "not CONTROLLER"),
        ({"name": "A", "protocol": "TLS"}, "protocol 'TLS' is none of PLAINTEXT, SSL"),
        ({"name": "A", "host": "0.0.0.0"}, "host '0.0.0.0' is not of this machine's loopback"),
        ({"name": "A", "port": 70000}, "port 70000 is not between 0 and 65535"),
    ],
)
def test_a_wrong_listener_is_refused(listener: dict[str, object], message: str) -> None:
    with pytest.raises(OptionsError, match=message):
        Listener(**listener)  # type: ignore[arg-type]


def test_free_ports_differ_and_are_free() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    assert all(is_free(port) for port in ports)
