"""Send reports to the driver, over one connection for each process."""

from __future__ import annotations

import logging
import socket
import struct
import time
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge

from millrace.monitoring.report import ReceiverAddress, Report
from millrace.worker import RESOURCES, ResourceKind, WorkerResources

logger = logging.getLogger("millrace.monitoring")

TIMEOUT_S = 2
"""Timeout of an answer, in seconds; short, since a task or a micro-batch waits for it."""

_MAX_ANSWER_BYTES = 64

CONNECTIONS = ResourceKind[Connection]("connection to the driver", capacity=4, close=Connection.close)

# Drivers that could not be reached, so that no other report waits for them
UNREACHABLE = ResourceKind[bool]("unreachable driver", capacity=64)


def send(
    address: ReceiverAddress, report: Report, resources: WorkerResources = RESOURCES, timeout_s: int = TIMEOUT_S
) -> bytes | None:
    """Send a report. If the receiver cannot be reached, warn once, and lose this report and all others.

    Args:
        address: The receiver.
        report: The report.
        resources: Keeps the connection.
        timeout_s: How long the receiver may take to answer, in seconds.

    Returns:
        The answer; None if there is none, or the report is lost.
    """
    if address in resources.items(UNREACHABLE):
        return None
    started = time.monotonic()
    try:
        return _try(address, report, resources, timeout_s)
    except Exception as error:
        resources.drop(CONNECTIONS)
        if time.monotonic() - started > timeout_s / 2:
            # A receiver that does not answer would not answer the next attempt either
            _give_up(address, report, error, resources)
            return None
        try:
            return _try(address, report, resources, timeout_s)
        except Exception as second_error:
            _give_up(address, report, second_error, resources)
            return None


def _try(address: ReceiverAddress, report: Report, resources: WorkerResources, timeout_s: int) -> bytes | None:
    connection = resources.get(CONNECTIONS, address, lambda: _connect(address, timeout_s))
    connection.send_bytes(report.to_bytes())
    return connection.recv_bytes(_MAX_ANSWER_BYTES) if report.is_answered else None


def _connect(address: ReceiverAddress, timeout_s: int) -> Connection:
    connected = socket.create_connection((address.host, address.port), timeout=timeout_s)
    # Without a timeout of Python's, which would make the socket non-blocking for others who use its number
    connected.settimeout(None)
    for direction in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        connected.setsockopt(socket.SOL_SOCKET, direction, struct.pack("ll", timeout_s, 0))
    connection = Connection(connected.detach())
    try:
        answer_challenge(connection, address.secret)
        deliver_challenge(connection, address.secret)
    except BaseException:
        connection.close()
        raise
    return connection


def _give_up(address: ReceiverAddress, report: Report, failure: Exception, resources: WorkerResources) -> None:
    resources.put(UNREACHABLE, address, True)
    logger.warning(report.UNREACHABLE.format(host=address.host, port=address.port, failure=failure))
