"""The executor's side: reports go to the driver over one connection for each worker process."""

from __future__ import annotations

import functools
import logging
import socket
import struct
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge

from millrace.monitoring.report import Address, Report

logger = logging.getLogger("millrace.monitoring")

PATIENCE_S = 2
"""How long the driver may take to answer: a task waits for it."""

_unreachable: set[Address] = set()


def send(address: Address, report: Report) -> None:
    """Tell the driver what was read; when it cannot be reached, that is told once and the report is lost."""
    if address in _unreachable:
        return
    sent = report.to_bytes()
    try:
        _connection(address).send_bytes(sent)
    except Exception:
        _connection.cache_clear()
        try:
            _connection(address).send_bytes(sent)
        except Exception as error:
            _give_up(address, error)


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


def _give_up(address: Address, failure: Exception) -> None:
    _unreachable.add(address)
    logger.warning(
        "the driver does not answer at %s:%d, so that its metrics lack what is read here: %s. Give an address of the "
        "driver that this machine can reach by option 'scan.metrics.address'",
        address.host,
        address.port,
        failure,
    )
