"""The web applications: metrics and health, and the page with its data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from millrace.errors import MillraceError
from millrace_ui.endpoints import PAGE_FOLDER, PageEndpoints, refused
from millrace_ui.health import health_of
from millrace_ui.middleware import SecurityHeaders, TokenCheck
from millrace_ui.page_data import PageData
from millrace_ui.prometheus import Exposition, render
from millrace_ui.query_history import Histories

__all__ = ["PAGE_FOLDER", "Settings", "metrics_application", "page_application"]


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
    return Starlette(routes=_routes_for_machines(histories, settings))


def page_application(data: PageData, settings: Settings) -> ASGIApp:
    """Return the application of the page, with ``/metrics`` and ``/healthz``."""
    routes = [
        *_routes_for_machines(data.histories, settings),
        *PageEndpoints(data, settings.stalled_after_s).routes(),
        Mount("/page", StaticFiles(directory=PAGE_FOLDER)),
    ]
    middleware = [Middleware(SecurityHeaders)]
    if settings.hosts:
        allowed = [f"[{host}]" if ":" in host else host for host in settings.hosts]
        middleware.append(Middleware(TrustedHostMiddleware, allowed_hosts=allowed))
    if settings.token is not None:
        middleware.append(Middleware(TokenCheck, token=settings.token))
    return Starlette(routes=routes, middleware=middleware, exception_handlers={MillraceError: refused})


def _routes_for_machines(histories: Histories, settings: Settings) -> list[Route]:
    def metrics(request: Request) -> Response:
        text, content_type = render(histories.reports(), settings.exposition, request.headers.get("accept", ""))
        return Response(text, headers={"content-type": content_type})

    def health(_request: Request) -> Response:
        state = health_of(histories.histories(), time.time(), settings.stalled_after_s)
        return PlainTextResponse(f"{state.sentence}\n", status_code=200 if state.is_well else 503)

    return [Route("/metrics", metrics), Route("/healthz", health)]
