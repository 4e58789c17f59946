"""Calls from one Python worker of a Spark executor to another one, over a Unix domain socket.

Spark's daemon forks all Python workers of an executor. Only they can call each other: both sides check that the other
process has the same user and the same parent. The sockets have names of Linux's abstract namespace, which ends with its
processes: a worker that is killed leaves no file behind. Elsewhere, nobody listens and nobody answers.
"""

from __future__ import annotations

import logging
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeAlias
from weakref import WeakSet

logger = logging.getLogger("millrace")

IS_SUPPORTED = sys.platform == "linux"
"""True on systems where workers can call each other."""

GREETING_TIMEOUT_S = 1
"""Time after which a sibling that has not said that it is free is left alone, in seconds."""

TIMEOUT_S = 30
"""Time for an answer, in seconds."""

_IDLE_TIMEOUT_S = 60.0
"""Time without a call after which nobody listens any more, as Spark ends workers without tasks."""

_CLOSE_TIMEOUT_S = 1.0
"""Time for a listener's thread to end, in seconds."""

_GREETING = b"free"
_CREDENTIALS = struct.Struct("3i")
"""A process: its id, its user and its group."""


class SiblingListener:
    """Answer calls of siblings in threads, one call at a time; others are refused meanwhile.

    Args:
        name: The name that siblings call.
        answer: Answers them.
        idle_timeout_s: The time without a call after which it closes, in seconds.

    Raises:
        OSError: Another process listens by that name, or the system has no such names.
    """

    def __init__(self, name: str, answer: Answer, idle_timeout_s: float = _IDLE_TIMEOUT_S) -> None:
        self._answer = answer
        self._is_free = threading.Lock()
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._server.bind(_address(name))
            self._server.listen()
        except BaseException:
            self._server.close()
            raise
        # A timeout of Python's would make it non-blocking: `accept` would not notice that it is shut down
        _set_timeout(self._server, socket.SO_RCVTIMEO, idle_timeout_s)
        _LISTENERS.add(self)
        self._thread = threading.Thread(target=self._accept, name="millrace-listener", daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        """True while siblings can call."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Refuse further calls; one that is under way goes on."""
        # Also where a process that was forked from this one has the socket, too
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        # Its thread closes the socket, whose number another one could have otherwise while it waits there
        if threading.current_thread() is not self._thread:
            self._thread.join(_CLOSE_TIMEOUT_S)

    def abandon(self) -> None:
        """Leave the socket to the process that this one was forked from, so that the name ends with it."""
        self._server.close()

    def _accept(self) -> None:
        # Ends with the idle timeout, or when it is closed
        with closing(self._server), suppress(OSError):
            while True:
                caller, _ = self._server.accept()
                if _is_sibling(caller) and self._is_free.acquire(blocking=False):
                    threading.Thread(target=self._serve, args=(caller,), name="millrace-call", daemon=True).start()
                else:
                    caller.close()

    def _serve(self, caller: socket.socket) -> None:
        try:
            with closing(_connection(caller)) as connection:
                connection.send_bytes(_GREETING)
                answer = self._answer(self, connection.recv_bytes(), connection.poll)
                if answer is not None:
                    connection.send_bytes(answer)
        except Exception as error:
            # The caller goes on without an answer
            logger.debug("a call of another worker failed: %s", error)
        finally:
            self._is_free.release()


Answer: TypeAlias = Callable[[SiblingListener, bytes, Callable[[], bool]], bytes | None]
"""Answers a listener's request, or refuses it (None); its last argument tells whether the caller has gone."""

_LISTENERS: WeakSet[SiblingListener] = WeakSet()


def _abandon_listeners() -> None:
    for listener in _LISTENERS:
        listener.abandon()


if IS_SUPPORTED:
    os.register_at_fork(after_in_child=_abandon_listeners)


def call(name: str) -> Connection | None:
    """Call the sibling that listens by a name, to send one request and receive its answer.

    Returns:
        A connection to close; None where no sibling listens, or it is busy.

    Raises:
        TimeoutError: It does not say whether it is free.
    """
    if not IS_SUPPORTED:
        return None
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.settimeout(GREETING_TIMEOUT_S)
    try:
        server.connect(_address(name))
        is_sibling = _is_sibling(server)
    except OSError:
        is_sibling = False
    if not is_sibling:
        server.close()
        return None
    return _greeted(_connection(server))


def ask(connection: Connection, request: bytes) -> bytes | None:
    """Send a request to a sibling, and return its answer; None where it refuses, dies, or does not answer in time."""
    try:
        connection.send_bytes(request)
        return connection.recv_bytes()
    except (EOFError, OSError) as error:
        logger.debug("another worker gives no answer: %s", error)
        return None


def _greeted(connection: Connection) -> Connection | None:
    has_answered = connection.poll(GREETING_TIMEOUT_S)
    try:
        if has_answered and connection.recv_bytes(len(_GREETING)):
            return connection
    except (EOFError, OSError) as error:
        logger.debug("another worker is busy: %s", error)
    connection.close()
    if not has_answered:
        raise TimeoutError(f"another worker has not answered within {GREETING_TIMEOUT_S} s")
    return None


def _connection(connected: socket.socket) -> Connection:
    # Without a timeout of Python's, which would make the socket non-blocking for others who use its number
    connected.settimeout(None)
    for direction in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        _set_timeout(connected, direction, TIMEOUT_S)
    return Connection(connected.detach())


def _set_timeout(of: socket.socket, direction: int, seconds: float) -> None:
    microseconds = round(seconds * 1_000_000)
    of.setsockopt(socket.SOL_SOCKET, direction, struct.pack("ll", *divmod(microseconds, 1_000_000)))


def _is_sibling(peer: socket.socket) -> bool:
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, user, _ = _CREDENTIALS.unpack(credentials)
    # Within one process, workers share what they keep
    return user == os.geteuid() and process != os.getpid() and _parent(process) == os.getppid()


def _parent(process: int) -> int | None:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        # In another container, or gone
        return None
    # Its name, in brackets, may hold anything
    return int(status.rpartition(")")[2].split()[1])


def _address(name: str) -> str:
    return f"\0millrace-{os.geteuid()}-{os.getppid()}-{name}"
