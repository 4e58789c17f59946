"""The web applications: metrics and health, and the page with its data."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from millrace_ui.health import health_of
from millrace_ui.prometheus import Exposition, render
from millrace_ui.query_history import Histories
from millrace_ui.views import queries_view, query_view

PAGE_FOLDER = Path(__file__).parent / "page"

_COOKIE = "millrace_token"
_EVENT_INTERVAL_S = 0.5
_KEEP_ALIVE_S = 15.0
_HEADERS = {
    "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


@dataclass(frozen=True)
class Settings:
    """The settings of an application.

    Attributes:
        exposition: The choice of the metrics that are shown.
        stalled_after_s: The seconds without progress after which a query that has something to read is not well.
        token: The token that each request must have; None for none.
        hosts: The names by which browsers may ask, so that foreign pages cannot read through a name of their own;
            empty for all.
    """

    exposition: Exposition
    stalled_after_s: float
    token: str | None = None
    hosts: Sequence[str] = ()


def metrics_application(histories: Histories, settings: Settings) -> ASGIApp:
    """Return the application that has ``/metrics`` and ``/healthz`` alone."""
    return Starlette(routes=_Endpoints(histories, settings).for_machines())


def page_application(histories: Histories, settings: Settings) -> ASGIApp:
    """Return the application of the page, with ``/metrics`` and ``/healthz``."""
    endpoints = _Endpoints(histories, settings)
    routes = [
        *endpoints.for_machines(),
        Route("/", endpoints.page),
        Route("/api/queries", endpoints.queries),
        Route("/api/queries/{query}", endpoints.query),
        Route("/events", endpoints.events),
        Mount("/page", StaticFiles(directory=PAGE_FOLDER)),
    ]
    middleware = [Middleware(_Headers)]
    if settings.hosts:
        allowed = [f"[{host}]" if ":" in host else host for host in settings.hosts]
        middleware.append(Middleware(TrustedHostMiddleware, allowed_hosts=allowed))
    if settings.token is not None:
        middleware.append(Middleware(_TokenCheck, token=settings.token))
    return Starlette(routes=routes, middleware=middleware)


class _Endpoints:
    def __init__(self, histories: Histories, settings: Settings) -> None:
        self._histories = histories
        self._settings = settings

    def for_machines(self) -> list[Route | Mount]:
        return [Route("/metrics", self.metrics), Route("/healthz", self.health)]

    def metrics(self, request: Request) -> Response:
        text, content_type = render(
            self._histories.reports(), self._settings.exposition, request.headers.get("accept", "")
        )
        return Response(text, headers={"content-type": content_type})

    def health(self, _request: Request) -> Response:
        health = health_of(self._histories.reports(), time.time(), self._settings.stalled_after_s)
        return PlainTextResponse(f"{health.sentence}\n", status_code=200 if health.is_well else 503)

    def page(self, request: Request) -> Response:
        if "token" in request.query_params:
            # Out of the address, so that it is neither shown nor kept in the browser's history
            answer = RedirectResponse("./", status_code=303)
            answer.set_cookie(_COOKIE, request.query_params["token"], httponly=True, samesite="strict")
            return answer
        return Response((PAGE_FOLDER / "index.html").read_bytes(), media_type="text/html")

    def queries(self, _request: Request) -> Response:
        return JSONResponse(queries_view(self._histories.histories()))

    def query(self, request: Request) -> Response:
        history = self._histories.history(request.path_params["query"])
        if history is None:
            return JSONResponse({"error": "this driver has no such query"}, status_code=404)
        return JSONResponse(query_view(history))

    async def events(self, _request: Request) -> Response:
        return StreamingResponse(
            self._event_stream(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    async def _event_stream(self) -> AsyncIterator[str]:
        sent, sent_at = -1, 0.0
        while True:
            version = self._histories.version
            if version != sent:
                view = await asyncio.to_thread(lambda: queries_view(self._histories.histories()))
                yield f"event: queries\ndata: {json.dumps(view)}\n\n"
                sent, sent_at = version, time.monotonic()
            elif time.monotonic() - sent_at > _KEEP_ALIVE_S:
                yield ": still here\n\n"
                sent_at = time.monotonic()
            await asyncio.sleep(_EVENT_INTERVAL_S)


class _Headers:
    """Add the headers that keep foreign scripts and frames out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class _TokenCheck:
    """Ask for the token: as ``?token=``, as the page's cookie, or as ``Authorization: Bearer``."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_known(Request(scope)):
            await self._app(scope, receive, send)
            return
        answer = PlainTextResponse("give the token, as in http://HOST:PORT/?token=TOKEN\n", status_code=401)
        await answer(scope, receive, send)

    def _is_known(self, request: Request) -> bool:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        offered = (bearer, request.query_params.get("token", ""), request.cookies.get(_COOKIE, ""))
        return any(hmac.compare_digest(text.encode(), self._token) for text in offered if text)
