"""The side that tells: reports go over one connection for each process."""

from __future__ import annotations

import functools
import logging
import socket
import struct
import time
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge

from millrace.monitoring.report import Address, Sendable

logger = logging.getLogger("millrace.monitoring")

PATIENCE_S = 2
"""How long the receiver may take to answer: a task or a micro-batch waits for it."""

_LONGEST_ANSWER = 64

_unreachable: set[Address] = set()


def send(address: Address, report: Sendable) -> bytes | None:
    """Send a report; when the receiver cannot be reached, that is told once and the report is lost.

    Returns:
        The answer; None when there is none, or the report is lost.
    """
    if address in _unreachable:
        return None
    began = time.monotonic()
    try:
        return _try(address, report)
    except Exception as error:
        _connection.cache_clear()
        if time.monotonic() - began > PATIENCE_S / 2:
            # Whoever keeps silent would do so again
            _give_up(address, report, error)
            return None
        try:
            return _try(address, report)
        except Exception as again:
            _give_up(address, report, again)
            return None


def _try(address: Address, report: Sendable) -> bytes | None:
    connection = _connection(address)
    connection.send_bytes(report.to_bytes())
    return connection.recv_bytes(_LONGEST_ANSWER) if report.is_answered else None


@functools.lru_cache(maxsize=2)
def _connection(address: Address) -> Connection:
    connected = socket.create_connection((address.host, address.port), timeout=PATIENCE_S)
    # Without a timeout of Python's, which would make the socket non-blocking for others who use its number
    connected.settimeout(None)
    for direction in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        connected.setsockopt(socket.SOL_SOCKET, direction, struct.pack("ll", PATIENCE_S, 0))
    connection = Connection(connected.detach())
    try:
        answer_challenge(connection, address.secret)
        deliver_challenge(connection, address.secret)
    except BaseException:
        connection.close()
        raise
    return connection


def _give_up(address: Address, report: Sendable, failure: Exception) -> None:
    _unreachable.add(address)
    logger.warning(report.LOST.format(host=address.host, port=address.port, failure=failure))
