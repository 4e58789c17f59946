"""A schema registry that holds one schema, and answers only the requests that the formats make."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


class SchemaRegistry:
    """A registry on the loopback address; every schema that is registered has the id 1."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.schema = ""
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """The registry's URL."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def schema(self) -> str:
        """The schema that was registered."""
        schema: str = self._server.schema
        return schema

    def __enter__(self) -> SchemaRegistry:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.schema = body["schema"]
        self._answer({"id": 1})

    def do_GET(self) -> None:
        self._answer({"schema": self.server.schema})

    def _answer(self, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Log nothing."""
