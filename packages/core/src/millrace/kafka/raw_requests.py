"""Send single requests in Kafka's own protocol, for what the client library cannot ask.

Formats of requests: https://kafka.apache.org/protocol#protocol_messages.
"""

from __future__ import annotations

import socket
import ssl
import struct
from typing import NamedTuple

TIMEOUT_S = 2.0

NO_ERROR = 0
NO_TAGS = b"\0"

_SASL_HANDSHAKE = 17
_API_VERSIONS = 18
_MOST_KINDS = 1_000
_CORRELATION_ID = 1
_CLIENT_ID = b"millrace"
_LARGEST_ANSWER = 100_000_000


class BrokerAddress(NamedTuple):
    """A broker's id and the address that it advertises."""

    id: int
    host: str
    port: int

    def __str__(self) -> str:
        return f"broker {self.id} at {self.host}:{self.port}"


class NotKafkaError(Exception):
    """A server does not answer as a Kafka broker does."""


def connect(host: str, port: int) -> socket.socket:
    """Open a TCP connection; OSError where it is refused or takes too long."""
    return socket.create_connection((host, port), TIMEOUT_S)


def ask(connection: socket.socket, api: int, version: int, body: bytes) -> bytes:
    """Send a request, and return the body of its answer.

    Args:
        connection: A connection to a broker.
        api: The key of the request.
        version: Its version.
        body: What follows the client id; in versions with tags, those of the header first.

    Returns:
        What follows the correlation id; in versions with tags, those of the header first.

    Raises:
        NotKafkaError: There was no answer, or one that no broker gives.
    """
    header = struct.pack(">hhih", api, version, _CORRELATION_ID, len(_CLIENT_ID)) + _CLIENT_ID
    request = header + body
    try:
        connection.settimeout(TIMEOUT_S)
        connection.sendall(struct.pack(">i", len(request)) + request)
        size, correlation = struct.unpack(">ii", _receive(connection, 8))
        if correlation != _CORRELATION_ID or not 4 <= size <= _LARGEST_ANSWER:
            raise NotKafkaError
        return _receive(connection, size - 4)
    except ssl.SSLError:
        raise
    except (OSError, struct.error) as error:
        raise NotKafkaError from error


def ask_for_versions(connection: socket.socket) -> dict[int, int]:
    """Ask which requests a listener knows, which every broker answers before a login.

    Returns:
        The newest version of each request, by the request's key.

    Raises:
        NotKafkaError: It gave another answer, or none.
    """
    answer = ask(connection, _API_VERSIONS, 0, b"")
    try:
        code, count = struct.unpack_from(">hi", answer)
        if code != NO_ERROR or not 0 < count < _MOST_KINDS:
            raise NotKafkaError
        versions = (struct.unpack_from(">hhh", answer, 6 + 6 * index) for index in range(count))
        return {key: newest for key, _, newest in versions}
    except struct.error as error:
        raise NotKafkaError from error


def ask_for_login(connection: socket.socket, mechanism: str) -> bytes:
    """Ask for a login by a SASL mechanism; returns an error code and the listener's mechanisms, and fails as `ask`."""
    name = mechanism.encode()
    return ask(connection, _SASL_HANDSHAKE, 1, struct.pack(">h", len(name)) + name)


def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        block = connection.recv(min(size - len(received), 1_000_000))
        if not block:
            raise NotKafkaError
        received += block
    return bytes(received)
