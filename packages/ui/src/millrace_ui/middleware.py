"""Middleware of the page: headers that keep foreign scripts out and its data in no cache, and the token."""

from __future__ import annotations

import hmac

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "millrace_token"
"""The page's cookie with the token."""

_POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; "
    "style-src 'self' 'unsafe-inline'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_NOT_STORED = {"cache-control": "no-store"}
_FILES = "/page/"


class SecurityHeaders:
    """Add the headers that keep foreign scripts and frames out, and messages and options in no cache."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        headers = _HEADERS if scope.get("path", "").startswith(_FILES) else {**_HEADERS, **_NOT_STORED}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class TokenCheck:
    """Ask for the token: as ``?token=``, as the page's cookie, or as ``Authorization: Bearer``."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if it has the token."""
        if scope["type"] != "http" or self._is_known(Request(scope)):
            await self._app(scope, receive, send)
            return
        answer = PlainTextResponse("give the token, as in http://HOST:PORT/?token=TOKEN\n", status_code=401)
        await answer(scope, receive, send)

    def _is_known(self, request: Request) -> bool:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        offered = (bearer, request.query_params.get("token", ""), request.cookies.get(COOKIE, ""))
        return any(hmac.compare_digest(text.encode(), self._token) for text in offered if text)
