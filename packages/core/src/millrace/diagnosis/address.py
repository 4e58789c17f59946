"""Check one address of a broker, from its name to its login."""

from __future__ import annotations

import datetime
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from millrace.diagnosis import wire
from millrace.diagnosis.findings import Finding, Level, error, ok, warning
from millrace.kafka.raw_requests import NotKafkaError, ask_for_versions, connect
from millrace.kafka.security.certificate_check import trust, trust_advice

_SOON = datetime.timedelta(days=14)
_HOST_MISMATCH = "match"


class Address(NamedTuple):
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_addresses(servers: str) -> list[Address]:
    """Return the addresses of ``host:port,host:port``; the port is 9092 where none is given, as for Kafka's client."""
    addresses = []
    for server in filter(None, map(str.strip, servers.split(","))):
        host, colon, port = server.rpartition(":")
        addresses.append(Address(host.strip("[]"), int(port)) if colon else Address(server, 9092))
    return addresses


def check_address(address: Address, client: Mapping[str, str]) -> list[Finding]:
    """Check an address step by step, up to the first step that fails.

    Args:
        address: The address.
        client: The client's properties, under librdkafka's names, with its files read.
    """
    findings: list[Finding] = []
    for finding in _steps(address, client):
        findings.append(finding)
        if finding.level == Level.ERROR:
            break
    return findings


def _steps(address: Address, client: Mapping[str, str]) -> Iterator[Finding]:
    protocol = client.get("security.protocol", "PLAINTEXT").upper()
    yield _check_name(address)
    yield _check_port(address)
    if protocol.endswith("SSL"):
        yield from _check_tls(address, protocol, client)
        if "ssl.certificate.pem" in client or "ssl.keystore.location" in client or "ssl.certificate.location" in client:
            # Beyond this the broker wants the certificate, which the client itself sends
            return
    yield from _check_protocol(address, protocol, client)


def _check_name(address: Address) -> Finding:
    try:
        infos = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except OSError as failure:
        return error(
            "dns",
            str(address),
            f"the name {address.host} cannot be resolved on this host: {failure.strerror or failure}",
            "check its spelling in 'properties.bootstrap.servers', and the DNS or /etc/hosts of this host",
        )
    return ok("dns", str(address), f"is {', '.join(dict.fromkeys(str(info[4][0]) for info in infos))}")


def _check_port(address: Address) -> Finding:
    try:
        connect(*address).close()
    except OSError as failure:
        reason = "nothing answers" if isinstance(failure, TimeoutError) else failure.strerror or str(failure)
        remedy = (
            "a firewall or security group drops the connection: let this host reach the port"
            if isinstance(failure, TimeoutError)
            else "check the port, and that the broker is running; in a container 127.0.0.1 is the container itself"
        )
        return error("tcp", str(address), f"the port cannot be reached: {reason}", remedy)
    return ok("tcp", str(address), "the port is open")


def _check_tls(address: Address, protocol: str, client: Mapping[str, str]) -> Iterator[Finding]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    verifies_host = client.get("ssl.endpoint.identification.algorithm", "https") == "https"
    context.check_hostname = verifies_host
    try:
        trust(context, client)
        with (
            connect(*address) as plain,
            context.wrap_socket(plain, server_hostname=address.host) as connection,
        ):
            yield _check_expiry(address, connection.getpeercert() or {})
    except ssl.SSLCertVerificationError as failure:
        yield _certificate_problem(address, failure)
    except OSError as failure:
        if not isinstance(failure, ssl.SSLError) and not isinstance(failure, (ConnectionError, TimeoutError)):
            yield error("tls", str(address), f"the trusted certificates cannot be read: {failure}", "check the file")
        elif wire.speaks_kafka(*address):
            without = "SASL_PLAINTEXT" if protocol.startswith("SASL") else "PLAINTEXT"
            yield error(
                "tls",
                str(address),
                "the listener is one without TLS, and the client begins a TLS handshake",
                f"set 'properties.security.protocol' to {without}, or connect to the port of the listener with TLS",
            )
        else:
            yield _foreign(address) or error(
                "tls", str(address), f"the TLS handshake fails: {failure}", "ask for the broker's log of this time"
            )


def _check_expiry(address: Address, certificate: Mapping[str, object]) -> Finding:
    until = datetime.datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), datetime.UTC)
    if until - datetime.datetime.now(datetime.UTC) < _SOON:
        message = f"the broker's certificate expires at {until:%Y-%m-%d %H:%M} UTC"
        return warning("tls", str(address), message, "let the administrator renew it")
    return ok("tls", str(address), f"the broker's certificate is trusted, and valid until {until:%Y-%m-%d}")


def _certificate_problem(address: Address, failure: ssl.SSLCertVerificationError) -> Finding:
    reason = failure.verify_message
    if "expired" in reason:
        remedy = "let the administrator renew the broker's certificate; check this host's clock, too"
    elif "not yet valid" in reason:
        remedy = "check this host's clock"
    elif _HOST_MISMATCH in reason:
        remedy = (
            "connect by a name that the certificate is for, or turn the check off by an empty "
            "'properties.ssl.endpoint.identification.algorithm'"
        )
    else:
        remedy = trust_advice(reason)
        remedy = remedy[0].lower() + remedy[1:]
    return error("tls", str(address), f"the broker's certificate is not accepted: {reason}", remedy)


def _check_protocol(address: Address, protocol: str, client: Mapping[str, str]) -> Iterator[Finding]:
    with_tls = protocol.endswith("SSL")
    mechanism = client.get("sasl.mechanism", client.get("sasl.mechanisms", "GSSAPI"))
    try:
        with open_connection(address, with_tls=with_tls) as connection:
            kinds = len(ask_for_versions(connection))
            yield ok("api", str(address), f"a Kafka broker, which knows {kinds} kinds of requests")
            code, mechanisms = wire.sasl_mechanisms(connection, mechanism)
            yield from _check_login(address, protocol, mechanism, code, mechanisms)
    except NotKafkaError:
        yield _no_broker(address, protocol)
    except OSError as failure:
        yield error("api", str(address), f"the connection ended: {failure}", "ask for the broker's log of this time")


def open_connection(address: Address, *, with_tls: bool) -> socket.socket:
    """Connect to an address that has been checked; OSError where that fails."""
    plain = connect(*address)
    if not with_tls:
        return plain
    # Its certificate has been checked
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(plain, server_hostname=address.host)


def _check_login(
    address: Address, protocol: str, mechanism: str, code: int, mechanisms: list[str]
) -> Iterator[Finding]:
    wants_login = code != wire.ILLEGAL_SASL_STATE
    logs_in = protocol.startswith("SASL")
    tls = "SSL" if protocol.endswith("SSL") else "PLAINTEXT"
    if wants_login and not logs_in:
        yield error(
            "sasl",
            str(address),
            f"the listener wants a login by {' or '.join(mechanisms)}, and the client gives none",
            f"set 'properties.security.protocol' to SASL_{tls}, with 'properties.sasl.mechanism' and "
            f"'properties.sasl.jaas.config'",
        )
    elif logs_in and not wants_login:
        yield error(
            "sasl",
            str(address),
            "the listener knows no login, and the client wants to log in",
            f"set 'properties.security.protocol' to {tls}, or connect to the port of the listener with SASL",
        )
    elif logs_in and code == wire.UNSUPPORTED_SASL_MECHANISM:
        yield error(
            "sasl",
            str(address),
            f"the listener has no login by {mechanism}; it has {', '.join(mechanisms)}",
            "set 'properties.sasl.mechanism' to one of these",
        )
    elif logs_in:
        yield ok("sasl", str(address), f"the listener has logins by {mechanism}")


def _no_broker(address: Address, protocol: str) -> Finding:
    if not protocol.endswith("SSL") and wire.speaks_tls(*address):
        with_tls = "SASL_SSL" if protocol.startswith("SASL") else "SSL"
        return error(
            "tls",
            str(address),
            "the listener is one with TLS, and the client speaks without",
            f"set 'properties.security.protocol' to {with_tls}; the authority of its certificate goes into "
            f"'properties.ssl.truststore.location' or 'properties.ssl.ca.location'",
        )
    return _foreign(address) or error(
        "api",
        str(address),
        "what listens there does not answer as a Kafka broker does",
        "check the port in 'properties.bootstrap.servers'",
    )


def _foreign(address: Address) -> Finding | None:
    name = wire.foreign_server(*address)
    if name == "ZooKeeper":
        remedy = "give the brokers' own addresses in 'properties.bootstrap.servers', mostly with port 9092"
        return error("api", str(address), "this is ZooKeeper's port, not a broker's", remedy)
    if name is not None:
        return error("api", str(address), f"this is {name}, not a broker", "check host and port")
    return None
