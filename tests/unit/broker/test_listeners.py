import pytest

from millrace.errors import OptionsError
from millrace_broker import Listener, listeners
from millrace_broker.listeners import free_ports, is_free


@pytest.mark.parametrize(
    ("listener", "message"),
    [
        ({"name": "a-b"}, "letters, digits and '_'"),
        ({"name": "controller"}, "must not be CONTROLLER"),
        ({"name": "A", "protocol": "TLS"}, "protocol 'TLS' is not one of PLAINTEXT, SSL"),
        ({"name": "A", "host": "0.0.0.0"}, "host '0.0.0.0' is not a loopback address"),
        ({"name": "A", "port": 70000}, "port 70000 is not between 0 and 65535"),
    ],
)
def test_a_wrong_listener_is_refused(listener: dict[str, object], message: str) -> None:
    with pytest.raises(OptionsError, match=message):
        Listener(**listener)


def test_ports_that_others_will_use_are_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = free_ports(3)
    monkeypatch.setattr(listeners._RANDOM, "sample", lambda ports, count: [first, *others])
    assert free_ports(2, {first}) == others


def test_free_ports_differ_and_are_free() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    assert all(is_free(port) for port in ports)
