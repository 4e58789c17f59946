"""Check the ports that a driver listens on: those of Spark's UI, of a broker for tests, and for executors' metrics."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing

from millrace.diagnosis import wire
from millrace.diagnosis.findings import Finding, ok, warning
from millrace.kafka.raw_requests import connect

LOOPBACK = "127.0.0.1"
UI_PORT = 4040
UI_PORTS = 17
"""Ports that Spark tries for its UI, by ``spark.port.maxRetries``."""

BROKER_PORT = 9092


def check_ports(ui_ports: Sequence[int] = range(UI_PORT, UI_PORT + UI_PORTS)) -> Iterator[Finding]:
    """Check the ports that are used unless others are given.

    Args:
        ui_ports: Those of Spark's UI, in the order in which Spark tries them.
    """
    yield _check_broker_port()
    yield _check_ui_ports(ui_ports)


def _check_broker_port() -> Finding:
    target = f"{LOOPBACK}:{BROKER_PORT}"
    if _is_free(LOOPBACK, BROKER_PORT):
        return ok("ports", target, "free, for 'millrace broker start'")
    if wire.speaks_kafka(LOOPBACK, BROKER_PORT):
        return ok("ports", target, "a Kafka broker listens; 'millrace broker status' says whether it is millrace's")
    owner = wire.foreign_server(LOOPBACK, BROKER_PORT) or "another program"
    return ok("ports", target, f"{owner} listens; 'millrace broker start' takes another port")


def _check_ui_ports(ports: Sequence[int]) -> Finding:
    # Spark binds all addresses
    free = next((port for port in ports if _is_free("", port)), None)
    target = f"{ports[0]}-{ports[-1]}"
    if free is None:
        return warning(
            "ports",
            target,
            "none of the ports that Spark tries for its UI is free, so that no session starts that has one",
            "end sessions that are not used, or set 'spark.ui.port' to 0, or 'spark.ui.enabled' to false",
        )
    return ok("ports", target, f"Spark's UI gets port {free}, the first one that is free")


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as tried:
        # As Java does, so that a connection that has just ended does not count
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except OSError as failure:
            return failure.errno != errno.EADDRINUSE
    return True


class MetricsPort:
    """A port on which this process listens as a stream's driver does, and which executors try to reach.

    Args:
        host: As in 'scan.metrics.address'.
        port: 0 for any that is free.
    """

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self._socket: socket.socket | None = None

    def listen(self) -> Finding:
        """Begin to listen."""
        target = f"{self.host}:{self.port}" if self.port else self.host
        try:
            self._socket = socket.create_server((self.host, self.port), reuse_port=False)
        except OSError as failure:
            return warning(
                "ports",
                target,
                f"the driver cannot receive metrics there: {os.strerror(failure.errno or 0)}",
                "let 'scan.metrics.address' name an address of this host, and a port that is free or none",
            )
        self.port = self._socket.getsockname()[1]
        return ok("ports", target, "the driver can receive metrics there")

    def close(self) -> None:
        """Listen no more."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def check_driver(host: str, port: int) -> Finding:
    """Check from an executor whether the driver's port for metrics can be reached."""
    target = f"{host}:{port}"
    try:
        with closing(connect(host, port)):
            return ok("ports", target, "the driver is reached where it receives metrics")
    except OSError as failure:
        return warning(
            "ports",
            target,
            f"the driver is not reached where it receives metrics: {failure.strerror or failure}",
            "set 'scan.metrics.address' to an address of the driver's host that executors reach: until then metrics "
            "lack what they have read, and a limit of bad messages counts for each task alone",
        )
