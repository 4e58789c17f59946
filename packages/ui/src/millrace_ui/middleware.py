"""Middleware of the page: headers that keep foreign scripts out, and the token."""

from __future__ import annotations

import hmac

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "millrace_token"
"""The page's cookie with the token."""

_HEADERS = {
    "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class SecurityHeaders:
    """Add the headers that keep foreign scripts and frames out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
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
