"""Addresses at which no broker is, and what is said of them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from millrace.diagnosis.address import Address, check_address, parse_addresses
from millrace.diagnosis.findings import Level

ZOOKEEPER = b"Zookeeper version: 3.5.9-83df9301aa5c2a5d284a9940177808c01bc35cef, built on 01/06/2021 20:03 GMT\n"


@contextmanager
def server(answers: dict[bytes, bytes]) -> Iterator[int]:
    """A server that answers some greetings, closes the connection upon any other, and gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    greeting = connection.recv(100)
                    connection.sendall(next((a for begin, a in answers.items() if greeting.startswith(begin)), b""))

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def test_addresses_are_parsed_as_the_client_does() -> None:
    parsed = parse_addresses("a:9092, b ,[::1]:9094")
    assert parsed == [Address("a", 9092), Address("b", 9092), Address("::1", 9094)]
    assert str(parsed[2]) == "[::1]:9094"


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({b"srvr": ZOOKEEPER}, "this is ZooKeeper's port, not a broker's"),
        ({b"srvr": b"srvr is not executed because it is not in the whitelist.\n"}, "this is ZooKeeper's port"),
        ({b"GET": b"HTTP/1.1 400 Bad Request\r\n\r\n"}, "this is a web server, not a broker"),
    ],
)
def test_other_servers_are_recognized(answers: dict[bytes, bytes], message: str, protocol: str) -> None:
    with server(answers) as port:
        last = check_address(Address("127.0.0.1", port), {"security.protocol": protocol})[-1]
    assert (last.check, last.level) == ("api", Level.ERROR)
    assert message in last.message


def test_a_server_that_says_nothing_is_no_broker() -> None:
    with server({}) as port:
        last = check_address(Address("127.0.0.1", port), {})[-1]
    assert last.message == "what listens there does not answer as a Kafka broker does"


def test_a_port_where_nothing_listens_is_told() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        last = check_address(Address("127.0.0.1", unused.getsockname()[1]), {})[-1]
    assert (last.check, last.message) == ("tcp", "the port cannot be reached: Connection refused")


def test_a_name_that_is_not_resolved_is_told() -> None:
    found = check_address(Address("nowhere.invalid", 9092), {})
    assert [step.check for step in found] == ["dns"]
    assert "'properties.bootstrap.servers'" in found[0].remedy
