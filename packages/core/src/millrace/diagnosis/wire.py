"""Speak just enough of Kafka's protocol to learn what listens on a port.

The client library connects, logs in and looks topics up in one go, and cannot say how far it came.
"""

from __future__ import annotations

import socket
import ssl
import struct

from millrace.kafka.raw_requests import NO_ERROR, NO_TAGS, NotKafkaError, ask, ask_for_login, ask_for_versions, connect

_DESCRIBE_QUORUM = 55

UNSUPPORTED_SASL_MECHANISM = 33
ILLEGAL_SASL_STATE = 34


def sasl_mechanisms(connection: socket.socket, mechanism: str) -> tuple[int, list[str]]:
    """Ask a listener for a login by a mechanism.

    Returns:
        An error code of Kafka, and the mechanisms that the listener has.

    Raises:
        NotKafkaError: It gave no answer.
    """
    answer = ask_for_login(connection, mechanism)
    code, count = struct.unpack_from(">hi", answer)
    names, at = [], 6
    for _ in range(max(count, 0)):
        (length,) = struct.unpack_from(">h", answer, at)
        names.append(answer[at + 2 : at + 2 + length].decode())
        at += 2 + length
    return int(code), names


def controller_time_ms(connection: socket.socket) -> int | None:
    """Ask a listener for the quorum, of which the controller's own row has the time of its answer.

    https://kafka.apache.org/protocol#The_Messages_DescribeQuorum, version 1.

    Returns:
        The controller's clock, in milliseconds since 1970; None where this user may not see it.

    Raises:
        NotKafkaError: It does not know this question, or gave no answer.
    """
    topic = b"__cluster_metadata"
    partitions = _compact(1) + struct.pack(">i", 0) + NO_TAGS
    answer = ask(
        connection,
        _DESCRIBE_QUORUM,
        1,
        NO_TAGS + _compact(1) + _compact(len(topic)) + topic + partitions + NO_TAGS + NO_TAGS,
    )
    # The tags of the header, an error, one topic with its name, one partition
    (code,) = struct.unpack_from(">h", answer, 1)
    at = 3 + 1 + 1 + len(topic) + 1
    if code != NO_ERROR or len(answer) < at + 23:
        return None
    _, code, leader = struct.unpack_from(">ihi", answer, at)
    at += 22
    if code != NO_ERROR:
        return None
    replicas = answer[at] - 1
    rows = (struct.unpack_from(">iqqq", answer, at + 1 + 29 * index) for index in range(replicas))
    return next((fetched for replica, _, fetched, _ in rows if replica == leader and fetched > 0), None)


def _compact(length: int) -> bytes:
    """Encode the length of a short array or string, as requests with tags do."""
    return bytes([length + 1])


def speaks_tls(host: str, port: int) -> bool:
    """Return whether a port begins a TLS handshake, whatever its certificate is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with connect(host, port) as plain, context.wrap_socket(plain, server_hostname=host):
            return True
    except ssl.SSLError as error:
        # An alert, such as for a missing client certificate, is an answer in TLS
        return "alert" in str(error).lower()
    except OSError:
        return False


def speaks_kafka(host: str, port: int) -> bool:
    """Return whether a port answers as a broker without TLS does."""
    try:
        with connect(host, port) as connection:
            return bool(ask_for_versions(connection))
    except (NotKafkaError, OSError):
        return False


def foreign_server(host: str, port: int) -> str | None:
    """Return what listens on a port that is no broker's: ZooKeeper or a web server; None if it is unknown."""
    for greeting, begin, name in (
        (b"srvr", b"Zookeeper version", "ZooKeeper"),
        (b"srvr", b"srvr is not executed", "ZooKeeper"),
        (b"GET / HTTP/1.0\r\n\r\n", b"HTTP/", "a web server"),
    ):
        try:
            with connect(host, port) as connection:
                connection.sendall(greeting)
                if connection.recv(64).startswith(begin):
                    return name
        except OSError:
            continue
    return None
