"""The side that listens: takes reports from other processes."""

from __future__ import annotations

import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from typing import Generic, TypeVar

from millrace.monitoring.report import Address, Sendable

logger = logging.getLogger("millrace.monitoring")

_PAUSE_S = 1.0

R = TypeVar("R", bound=Sendable)


class Receiver(Generic[R]):
    """Listens for reports on a thread of its own, as long as the process lives or until it is closed.

    Args:
        host: The address to listen on; others connect to the same.
        port: 0 for a free one.
        parse: Makes a report of what was sent; raises ValueError for what is none.
        take: Called with each report, by several threads; what it returns is the answer to those that get one.

    Raises:
        OSError: There is no such address on this machine, or the port is taken.
    """

    def __init__(self, host: str, port: int, parse: Callable[[bytes], R], take: Callable[[R], bytes | None]) -> None:
        self._parse = parse
        self._take = take
        # Whoever connects proves on a thread of their own that they know the secret: nobody can hold up the others
        self._listener = Listener((host, port), backlog=64)
        self._is_open = True
        self.address = Address(host, self._listener.address[1], secrets.token_bytes(16))
        threading.Thread(target=self._accept, name="millrace-metrics", daemon=True).start()

    def close(self) -> None:
        """Stop listening, and take nothing any more."""
        if not self._is_open:
            return
        self._is_open = False
        # Closing a socket ends nobody's wait for a connection to it; a connection does
        with suppress(OSError):
            socket.create_connection((self.address.host, self.address.port), timeout=_PAUSE_S).close()
        self._listener.close()

    def _accept(self) -> None:
        while self._is_open:
            try:
                connection = self._listener.accept()
            except OSError as error:
                if self._is_open:
                    logger.warning("no connection for metrics could be taken: %s", error)
                    time.sleep(_PAUSE_S)
            else:
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        with connection:
            try:
                deliver_challenge(connection, self.address.secret)
                answer_challenge(connection, self.address.secret)
                while self._is_open:
                    self._read(connection)
            except (EOFError, OSError):
                return
            except Exception as error:
                logger.debug("a connection was refused: %s", error)

    def _read(self, connection: Connection) -> None:
        sent = connection.recv_bytes(1 << 24)
        if not self._is_open:
            return
        try:
            report = self._parse(sent)
        except ValueError as error:
            logger.warning("%s", error)
            return
        answer = self._take(report)
        if report.is_answered:
            connection.send_bytes(answer or b"")
