"""HTTP servers that answer in a thread of the test's process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer


@contextmanager
def serving(server: HTTPServer) -> Iterator[str]:
    """Let a server of this machine answer within the block, and close it behind it.

    Yields:
        Host and port, such as ``127.0.0.1:40123``.
    """
    with server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
