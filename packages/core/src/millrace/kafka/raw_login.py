"""Log in to a broker on a connection of one's own, with the settings of a Kafka client.

TLS, and SASL with PLAIN, SCRAM (RFC 5802) and the tokens of a token provider (RFC 7628).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
import socket
import ssl
import struct
from collections.abc import Mapping
from typing import Any

from millrace.errors import ClientError
from millrace.kafka.raw_requests import NO_ERROR, ask, ask_for_login, connect
from millrace.kafka.security.certificate_check import trust
from millrace.kafka.security.sasl import DEFAULT_MECHANISM

_SASL_AUTHENTICATE = 36
_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_MOST_ITERATIONS = 1_000_000
"""A bound of what a server may let this process compute."""


def login(host: str, port: int, settings: Mapping[str, Any]) -> socket.socket:
    """Connect to a broker, and log in.

    Args:
        host: The broker's host.
        port: The port of its listener.
        settings: The settings of a Kafka client, from `client_settings`.

    Raises:
        OSError: The connection or the TLS handshake failed.
        NotKafkaError: The server does not answer as a broker does.
        ClientError: The login was refused, or is of a kind that only the client library has.
    """
    connection = open_connection(host, port, settings)
    try:
        if _protocol(settings).startswith("SASL"):
            _log_in(connection, settings)
    except BaseException:
        connection.close()
        raise
    return connection


def open_connection(host: str, port: int, settings: Mapping[str, Any]) -> socket.socket:
    """Connect to a broker as `login` does, without a login; OSError where the connection or the TLS handshake fails."""
    connection = connect(host, port)
    try:
        if _protocol(settings).endswith("SSL"):
            connection = _context(settings).wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise
    return connection


def _protocol(settings: Mapping[str, Any]) -> str:
    return str(settings.get("security.protocol", "PLAINTEXT")).upper()


def _context(settings: Mapping[str, Any]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    verifies = str(settings.get("enable.ssl.certificate.verification", "true")).lower() == "true"
    context.check_hostname = verifies and settings.get("ssl.endpoint.identification.algorithm", "https") == "https"
    if not verifies:
        context.verify_mode = ssl.CERT_NONE
    trust(context, settings)
    password = settings.get("ssl.key.password")
    if "ssl.certificate.pem" in settings:
        _load_pem(context, f"{settings['ssl.certificate.pem']}\n{settings['ssl.key.pem']}", password)
    elif "ssl.certificate.location" in settings:
        context.load_cert_chain(settings["ssl.certificate.location"], settings.get("ssl.key.location"), password)
    return context


def _load_pem(context: ssl.SSLContext, pem: str, password: str | None) -> None:
    """Load a certificate with its key. Python reads them from files alone: this one is in memory."""
    if not hasattr(os, "memfd_create"):
        raise _unsupported("a client certificate from a keystore, on this system")
    with os.fdopen(os.memfd_create("millrace"), "w") as file:
        file.write(pem)
        file.flush()
        context.load_cert_chain(f"/proc/self/fd/{file.fileno()}", password=password)


def _log_in(connection: socket.socket, settings: Mapping[str, Any]) -> None:
    mechanism = str(settings.get("sasl.mechanism", settings.get("sasl.mechanisms", DEFAULT_MECHANISM)))
    user, password = str(settings.get("sasl.username", "")), str(settings.get("sasl.password", ""))
    if mechanism == "PLAIN":
        _shake_hands(connection, mechanism)
        _authenticate(connection, f"\0{user}\0{password}".encode())
    elif mechanism in _HASHES:
        _shake_hands(connection, mechanism)
        _prove_password(connection, _HASHES[mechanism], user, password)
    elif mechanism == "OAUTHBEARER" and "oauth_cb" in settings:
        token = settings["oauth_cb"]("")[0]
        _shake_hands(connection, mechanism)
        _authenticate(connection, f"n,,\1auth=Bearer {token}\1\1".encode())
    else:
        raise _unsupported(mechanism)


def _shake_hands(connection: socket.socket, mechanism: str) -> None:
    if struct.unpack_from(">h", ask_for_login(connection, mechanism))[0] != NO_ERROR:
        raise ClientError(f"the listener has no login by {mechanism}")


def _authenticate(connection: socket.socket, message: bytes) -> bytes:
    """Send a message of a login, and return the broker's."""
    answer = ask(connection, _SASL_AUTHENTICATE, 1, struct.pack(">i", len(message)) + message)
    code, length = struct.unpack_from(">hh", answer)
    at = 4 + max(length, 0)
    if code != NO_ERROR:
        raise ClientError(f"the login failed: {answer[4:at].decode() or f'error {code}'}")
    (size,) = struct.unpack_from(">i", answer, at)
    return answer[at + 4 : at + 4 + size]


def _prove_password(connection: socket.socket, algorithm: str, user: str, password: str) -> None:
    """Log in by SCRAM: both sides prove that they know the password, which is not sent."""
    name = user.replace("=", "=3D").replace(",", "=2C")
    nonce = secrets.token_urlsafe(24)
    first = f"n={name},r={nonce}"
    challenge = _authenticate(connection, f"n,,{first}".encode()).decode()
    fields = dict(part.partition("=")[::2] for part in challenge.split(","))
    iterations = int(fields.get("i", "0"))
    if not fields.get("r", "").startswith(nonce) or not 0 < iterations <= _MOST_ITERATIONS:
        raise ClientError("the login failed: the broker's challenge is not one of SCRAM")
    salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), base64.b64decode(fields["s"]), iterations)
    key = hmac.digest(salted, b"Client Key", algorithm)
    last = f"c=biws,r={fields['r']}"
    exchanged = f"{first},{challenge},{last}".encode()
    signature = hmac.digest(hashlib.new(algorithm, key).digest(), exchanged, algorithm)
    proof = bytes(left ^ right for left, right in zip(key, signature, strict=True))
    answer = _authenticate(connection, f"{last},p={base64.b64encode(proof).decode()}".encode())
    servers = hmac.digest(hmac.digest(salted, b"Server Key", algorithm), exchanged, algorithm)
    if not hmac.compare_digest(answer, b"v=" + base64.b64encode(servers)):
        raise ClientError("the login failed: the broker does not know the password, so it may be another server")


def _unsupported(login: str) -> ClientError:
    return ClientError(f"a login by {login} is one that only the client library has, which cannot ask this")
