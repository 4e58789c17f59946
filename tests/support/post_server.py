"""An HTTP server on loopback that answers each POST by a function of the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.serving import serving


@contextmanager
def post_server(
    answer: Callable[[str, str], tuple[int, bytes]], content_type: str = "application/json"
) -> Iterator[str]:
    """Run the server, and yield its URL.

    Args:
        answer: Takes a request's header ``Authorization`` and its body; returns a status and a body.
        content_type: The type of the answers.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, content = answer(self.headers.get("Authorization", ""), body)
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        yield f"http://{address}"
