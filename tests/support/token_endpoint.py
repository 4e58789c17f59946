"""An authorization server on loopback: it checks clients as OAuth 2 (RFC 6749, RFC 7523) says, and signs its tokens."""

from __future__ import annotations

import base64
import json
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from support.serving import serving

CLIENT_ID = "alice"
CLIENT_SECRET = "client-5ecret"
GOOGLE_AUDIENCE = "https://oauth2.googleapis.com/token"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@dataclass
class TokenEndpoint:
    """A running authorization server.

    Attributes:
        url: Its address.
        lifetime_s: How long the tokens live that it issues from now on.
        account_key: The public key by which assertions of service accounts are verified.
        is_failing: Whether it answers all requests for tokens by an error.
        issued: The tokens that it has issued, oldest first.
        scopes: The scopes that were asked for.
        refused: How many requests it has refused.
    """

    url: str
    lifetime_s: float = 3600
    account_key: Any = None
    is_failing: bool = False
    issued: list[str] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    refused: int = 0
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def jwks(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": "first", "use": "sig", "alg": "RS256"}]}

    def discovery(self, tenant: str) -> dict[str, Any]:
        """OpenID Connect's description of a tenant."""
        return {
            "issuer": f"{self.url}/{tenant}/v2.0",
            "token_endpoint": f"{self.url}/{tenant}/oauth2/v2.0/token",
            "authorization_endpoint": f"{self.url}/{tenant}/oauth2/v2.0/authorize",
            "jwks_uri": f"{self.url}/jwks",
        }

    def grant(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Answer a request for a token."""
        if self.is_failing:
            return 503, {"error": "temporarily_unavailable"}
        subject = self._subject(form, authorization)
        if subject is None:
            self.refused += 1
            return 401, {"error": "invalid_client", "error_description": "unknown client"}
        self.scopes.append(form.get("scope", ""))
        now = time.time()
        claims = {"sub": subject, "iss": self.url, "aud": "kafka", "iat": int(now), "exp": now + self.lifetime_s}
        # Kafka's validator takes whole seconds
        claims["exp"] = int(claims["exp"])
        claims["jti"] = str(len(self.issued))
        self.issued.append(jwt.encode(claims, self.key, "RS256", headers={"kid": "first"}))
        lifetime = {"expires_in": int(self.lifetime_s)}
        return 200, {"access_token": self.issued[-1], "token_type": "Bearer", **lifetime}

    def _subject(self, form: dict[str, str], authorization: str) -> str | None:
        if form.get("grant_type") == JWT_BEARER:
            try:
                claims = jwt.decode(form["assertion"], self.account_key, ["RS256"], audience=GOOGLE_AUDIENCE)
            except (jwt.InvalidTokenError, KeyError):
                return None
            return str(claims["iss"])
        if authorization.startswith("Basic "):
            user, _, password = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
            given = unquote(user), unquote(password)
        else:
            given = form.get("client_id", ""), form.get("client_secret", "")
        is_known = form.get("grant_type") == "client_credentials" and given == (CLIENT_ID, CLIENT_SECRET)
        return CLIENT_ID if is_known else None


@contextmanager
def token_endpoint(tls: tuple[Path, Path] | None = None) -> Iterator[TokenEndpoint]:
    """Run an authorization server.

    Args:
        tls: The files of its certificate and key; without them it speaks plain HTTP.
    """
    endpoint = TokenEndpoint("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/jwks":
                self._answer(200, endpoint.jwks())
            elif self.path.partition("?")[0].endswith("/.well-known/openid-configuration"):
                self._answer(200, endpoint.discovery(self.path.split("/")[1]))
            else:
                self._answer(404, {"error": "not_found"})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._answer(*endpoint.grant(form, self.headers.get("Authorization", "")))

        def _answer(self, status: int, content: dict[str, Any]) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server) as address:
        endpoint.url = f"{'https' if tls else 'http'}://{address}"
        yield endpoint
