"""A gate before the schema registry that asks for a login, or for TLS, which that one does not by itself."""

from __future__ import annotations

import base64
import http.server
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from support.serving import serving


class _JsonHandler(http.server.BaseHTTPRequestHandler):
    """Answers with JSON, and logs nothing."""

    def answer(self, status: int, body: bytes) -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def gate(url: str, login: str | None = None, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Let requests through to a registry, and give the URL that they are to be sent to.

    Args:
        url: The registry.
        login: What the header ``Authorization`` must be; others are answered by 401.
        tls: Makes the gate speak TLS.
    """
    inner = urlsplit(url)

    class Handler(_JsonHandler):
        def _pass_on(self) -> None:
            if login is not None and self.headers.get("Authorization") != login:
                return self.answer(401, b'{"error_code":40101,"message":"Unauthorized"}')
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or None
            kept = {name: value for name, value in self.headers.items() if name in ("Content-Type", "Accept")}
            request = urllib.request.Request(
                f"{inner.scheme}://{inner.netloc}{self.path}", body, kept, method=self.command
            )
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return self.answer(answer.status, answer.read())
            except urllib.error.HTTPError as error:
                return self.answer(error.code, error.read())

        do_GET = do_POST = do_PUT = _pass_on  # noqa: N815

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    with serving(server) as address:
        scheme = "http" if tls is None else "https"
        yield f"{scheme}://{address}{inner.path}"


@contextmanager
def token_endpoint(client_id: str, client_secret: str, token: str) -> Iterator[str]:
    """Give a client tokens of OAuth, and the URL at which it asks for them; others are answered by 401."""
    login = "Basic " + base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()

    class Handler(_JsonHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            is_known = self.headers.get("Authorization") == login
            answer = {"access_token": token, "token_type": "Bearer", "expires_in": 3600} if is_known else {}
            body = json.dumps(answer).encode()
            self.answer(200 if is_known else 401, body)

    with serving(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        yield f"http://{address}/token"
