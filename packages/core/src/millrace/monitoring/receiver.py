"""Receive reports from other processes."""

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

from millrace.monitoring.report import ReceiverAddress, Report

logger = logging.getLogger("millrace.monitoring")

RETRY_PAUSE_S = 1.0

MAX_REPORT_BYTES = 1 << 24

R = TypeVar("R", bound=Report)


class Receiver(Generic[R]):
    """Listens for reports on a thread of its own, as long as the process lives or until it is closed.

    Args:
        host: The address to listen on; others connect to the same.
        port: 0 for a free one.
        parse: Parses a report; raises ValueError for bytes that are none.
        on_report: Called with each report, by several threads; what it returns is the answer to those that get one.

    Raises:
        OSError: There is no such address on this machine, or the port is taken.
    """

    def __init__(
        self, host: str, port: int, parse: Callable[[bytes], R], on_report: Callable[[R], bytes | None]
    ) -> None:
        self._parse = parse
        self._on_report = on_report
        # Whoever connects proves on a thread of their own that they know the secret: nobody can hold up the others
        self._listener = Listener((host, port), backlog=64)
        self._is_open = True
        self.address = ReceiverAddress(host, self._listener.address[1], secrets.token_bytes(16))
        threading.Thread(target=self._accept, name="millrace-metrics", daemon=True).start()

    def close(self) -> None:
        """Stop listening, and accept no more reports."""
        if not self._is_open:
            return
        self._is_open = False
        # Closing a socket does not end a wait for connections to it; a connection does
        with suppress(OSError):
            socket.create_connection((self.address.host, self.address.port), timeout=RETRY_PAUSE_S).close()
        self._listener.close()

    def _accept(self) -> None:
        while self._is_open:
            try:
                connection = self._listener.accept()
            except OSError as error:
                if self._is_open:
                    logger.warning("no connection for metrics could be accepted: %s", error)
                    time.sleep(RETRY_PAUSE_S)
            else:
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        with connection:
            try:
                deliver_challenge(connection, self.address.secret)
                answer_challenge(connection, self.address.secret)
                while self._is_open:
                    self._receive(connection)
            except (EOFError, OSError):
                return
            except Exception as error:
                logger.debug("a connection for metrics was refused: %s", error)

    def _receive(self, connection: Connection) -> None:
        sent = connection.recv_bytes(MAX_REPORT_BYTES)
        if not self._is_open:
            return
        try:
            report = self._parse(sent)
        except ValueError as error:
            logger.warning("%s", error)
            return
        answer = self._on_report(report)
        if report.is_answered:
            connection.send_bytes(answer or b"")
