"""Set quotas of clients, by the request of KIP-546, which no client library in Python has."""

from __future__ import annotations

import socket
import struct

_ALTER_CLIENT_QUOTAS = 49


def limit_requests(address: str, client_id: str, percentage: float) -> None:
    """Set how much of the time of a broker's threads a client may use, in percent.

    Args:
        address: A listener without security, ``host:port``.
        client_id: The client's id.
        percentage: The quota.
    """
    entity = struct.pack(">i", 1) + _text("client-id") + _text(client_id)
    operation = struct.pack(">i", 1) + _text("request_percentage") + struct.pack(">d?", percentage, False)
    body = struct.pack(">i", 1) + entity + operation + struct.pack(">?", False)
    request = struct.pack(">hhi", _ALTER_CLIENT_QUOTAS, 0, 1) + _text("test") + body
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        answer = connection.makefile("rb").read(18)
    _size, _correlation, _throttled, _entries, code = struct.unpack(">iiiih", answer)
    assert code == 0, code


def _text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()
