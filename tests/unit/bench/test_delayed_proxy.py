"""The proxy between a client and a broker that this test plays itself."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest
from bench.delayed_proxy import DelayedProxy

from millrace_broker.listeners import free_ports

FETCH, UNNAMED = 1, 4711


@pytest.fixture
def proxy() -> Iterator[DelayedProxy]:
    port, target = free_ports(2)
    with socket.create_server(("127.0.0.1", target)) as server, DelayedProxy(port, target) as proxy:
        threading.Thread(target=_echo, args=(server,), daemon=True).start()
        yield proxy


def test_requests_are_counted_whole_however_they_are_cut(proxy: DelayedProxy) -> None:
    requests = b"".join(struct.pack(">ihh", 4 + 9, kind, 1) + b"123456789" for kind in (FETCH, FETCH, UNNAMED))
    with _connect(proxy) as client:
        answer = b""
        for cut in (requests[:3], requests[3:9], requests[9:20], requests[20:]):
            client.sendall(cut)
            answer += _receive(client, len(cut))

    traffic = proxy.take_traffic()
    assert answer == requests
    assert (traffic.connections, dict(traffic.requests)) == (1, {"Fetch": 2, str(UNNAMED): 1})
    assert traffic.answered_bytes == len(requests)
    after = proxy.take_traffic()
    assert (after.connections, after.answered_bytes) == (0, 0)


def test_an_answer_takes_the_round_trip(proxy: DelayedProxy) -> None:
    with _connect(proxy) as client:
        client.sendall(b"near")
        assert _receive(client, 4) == b"near"
        proxy.set_round_trip(200)
        began = time.monotonic()
        client.sendall(b"far away")
        assert _receive(client, 8) == b"far away"
    assert time.monotonic() - began >= 0.2


def test_the_end_of_a_connection_passes_the_proxy(proxy: DelayedProxy) -> None:
    with _connect(proxy) as client:
        client.sendall(b"last")
        client.shutdown(socket.SHUT_WR)
        assert _receive(client, 100) == b"last"


def _echo(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        while data := connection.recv(1000):
            connection.sendall(data)


def _connect(proxy: DelayedProxy) -> socket.socket:
    host, port = proxy.servers.split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def _receive(client: socket.socket, size: int) -> bytes:
    """Receive some bytes, or what there is before the connection ends."""
    data = b""
    while len(data) < size and (more := client.recv(size)):
        data += more
    return data
