"""Serve an application by a thread of this process."""

from __future__ import annotations

import socket
import threading

import uvicorn
from starlette.types import ASGIApp

from millrace.errors import OptionsError

_CLOSE_TIMEOUT_S = 5.0


class Server:
    """An HTTP server, from its creation until it is closed.

    Args:
        application: The application.
        host: The address to listen on.
        port: The port; 0 for a free one.
        owner: The thing that is configured, for errors.

    Raises:
        OptionsError: The port is taken, or this machine has no such address.
    """

    def __init__(self, application: ASGIApp, host: str, port: int, owner: str) -> None:
        self._socket = _listen(host, port, owner)
        self._host = host
        config = uvicorn.Config(application, log_level="critical", access_log=False, lifespan="off", ws="none")
        # Streams of events end within half a second when their page closes; nothing else is waited for
        config.timeout_graceful_shutdown = 2
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="millrace-ui", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """The address of its first page."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._socket.getsockname()[1]}/"

    def close(self) -> None:
        """Stop serving. Nothing happens the second time."""
        self._server.should_exit = True
        self._thread.join(_CLOSE_TIMEOUT_S)
        self._socket.close()


def _listen(host: str, port: int, owner: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()
    except OSError as error:
        listening.close()
        problem = f"cannot listen on {host}:{port}: {error.strerror}; port 0 takes a free one"
        raise OptionsError(owner, (problem,)) from None
    return listening
