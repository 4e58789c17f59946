"""The driver's side: takes reports from executors."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, Listener

from millrace.monitoring.report import Address, Report

logger = logging.getLogger("millrace.monitoring")


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
        secret = secrets.token_bytes(16)
        self._listener = Listener((host, port), backlog=64, authkey=secret)
        self._is_open = True
        self.address = Address(host, self._listener.address[1], secret)
        threading.Thread(target=self._accept, name="millrace-metrics", daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._is_open = False
        self._listener.close()

    def _accept(self) -> None:
        while self._is_open:
            try:
                connection = self._listener.accept()
            except Exception as error:
                logger.debug("a connection was refused: %s", error)
            else:
                threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection: Connection) -> None:
        with connection:
            while True:
                try:
                    self._take(Report.from_bytes(connection.recv_bytes(1 << 24)))
                except (EOFError, OSError):
                    return
                except ValueError as error:
                    logger.warning("%s", error)
