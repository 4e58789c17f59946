"""The driver's side: takes reports from executors."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge

from millrace.monitoring.report import Address, Report

logger = logging.getLogger("millrace.monitoring")

_PAUSE_S = 1.0


class Receiver:
    """Listens for reports on a thread of its own, as long as the process lives or until it is closed.

    Args:
        host: The address to listen on; executors connect to the same.
        port: 0 for a free one.
        take: Called with each report, by several threads.

    Raises:
        OSError: There is no such address on this machine, or the port is taken.
    """

    def __init__(self, host: str, port: int, take: Callable[[Report], None]) -> None:
        self._take = take
        # Whoever connects proves on a thread of their own that they know the secret: nobody can hold up the others
        self._listener = Listener((host, port), backlog=64)
        self._is_open = True
        self.address = Address(host, self._listener.address[1], secrets.token_bytes(16))
        threading.Thread(target=self._accept, name="millrace-metrics", daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._is_open = False
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
                while True:
                    self._read(connection)
            except (EOFError, OSError):
                return
            except Exception as error:
                logger.debug("a connection was refused: %s", error)

    def _read(self, connection: Connection) -> None:
        sent = connection.recv_bytes(1 << 24)
        try:
            self._take(Report.from_bytes(sent))
        except ValueError as error:
            logger.warning("%s", error)
