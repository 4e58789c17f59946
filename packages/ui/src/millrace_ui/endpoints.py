"""The page's endpoints: its file, its data as JSON, and what has changed as server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from millrace.errors import UnknownTopicError
from millrace_ui.health import health_of
from millrace_ui.metric_sentences import metric_sentences
from millrace_ui.middleware import COOKIE
from millrace_ui.page_data import PageData
from millrace_ui.topics.messages import MAX_MESSAGES, MessageFilter
from millrace_ui.topics.tails import Tail

PAGE_FOLDER = Path(__file__).parent / "page"

_EVENT_INTERVAL_S = 0.5
_KEEP_ALIVE_S = 15.0
_NO_WRITE = {"error": "no query of this id runs and writes exactly once by millrace, as far as is known"}
_NO_SCHEMA = {"error": "no query of this id has columns that follow its messages, as far as this driver knows"}
_NO_QUERY = {"error": "this driver has no such query"}


class PageEndpoints:
    """The endpoints of a page.

    Args:
        data: What it shows.
        stalled_after_s: The seconds without progress after which a query that has something to read is not well.
    """

    def __init__(self, data: PageData, stalled_after_s: float) -> None:
        self._data = data
        self._stalled_after_s = stalled_after_s

    def routes(self) -> list[Route]:
        """Return the routes to the endpoints."""
        return [
            Route("/", self.page),
            Route("/events", self.events),
            Route("/api/page", self.facts),
            Route("/api/queries", self.queries),
            Route("/api/queries/{query}", self.query),
            Route("/api/queries/{query}/charts", self.charts),
            Route("/api/queries/{query}/why", self.why),
            Route("/api/queries/{query}/plan", self.plan),
            Route("/api/queries/{query}/exactly-once", self.exactly_once),
            Route("/api/queries/{query}/malformed", self.malformed),
            Route("/api/queries/{query}/schema", self.schema),
            Route("/api/jobs", self.jobs),
            Route("/api/topics", self.topics),
            Route("/api/topics/{topic}", self.topic),
            Route("/api/topics/{topic}/messages", self.messages),
            Route("/api/topics/{topic}/tail", self.tail),
            Route("/api/health", self.health),
            Route("/page/metrics.js", self.metric_sentences),
        ]

    def page(self, request: Request) -> Response:
        """Answer with the page; a token goes from the address into a cookie."""
        if "token" in request.query_params:
            # Out of the address, so that it is neither shown nor kept in the browser's history
            answer = RedirectResponse("./", status_code=303)
            answer.set_cookie(COOKIE, request.query_params["token"], httponly=True, samesite="strict")
            return answer
        return Response((PAGE_FOLDER / "index.html").read_bytes(), media_type="text/html")

    def facts(self, _request: Request) -> Response:
        """Answer with what the page can show."""
        return JSONResponse(self._data.facts())

    def queries(self, _request: Request) -> Response:
        """Answer with all queries in short."""
        return _json(self._data.queries())

    def query(self, request: Request) -> Response:
        """Answer with a query in full."""
        return _json(self._data.query(request.path_params["query"]))

    def charts(self, request: Request) -> Response:
        """Answer with what the page draws of a query."""
        return _json(self._data.charts(request.path_params["query"]))

    def why(self, request: Request) -> Response:
        """Answer with the causes for which nothing comes from a query."""
        return _found(self._data.why(request.path_params["query"]), _NO_QUERY)

    def plan(self, request: Request) -> Response:
        """Answer with Spark's plan of a query, and its options."""
        return _found(self._data.plan(request.path_params["query"]), _NO_QUERY)

    def exactly_once(self, request: Request) -> Response:
        """Answer with the state of a query's exactly-once write."""
        return _found(self._data.exactly_once(request.path_params["query"]), _NO_WRITE)

    def malformed(self, request: Request) -> Response:
        """Answer with the newest malformed messages of a query."""
        return _found(self._data.malformed(request.path_params["query"]), _NO_QUERY)

    def schema(self, request: Request) -> Response:
        """Answer with all changes of a query's columns."""
        return _found(self._data.schema(request.path_params["query"]), _NO_SCHEMA)

    def jobs(self, _request: Request) -> Response:
        """Answer with pipelines and SQL statements."""
        return JSONResponse(self._data.jobs())

    def topics(self, _request: Request) -> Response:
        """Answer with all topics in short."""
        return JSONResponse(self._data.cluster().topics())

    def topic(self, request: Request) -> Response:
        """Answer with a topic in full."""
        return JSONResponse(self._data.cluster().topic(request.path_params["topic"]))

    def messages(self, request: Request) -> Response:
        """Answer with the newest messages of a topic."""
        return JSONResponse(self._data.reader(_filter(request)).newest())

    async def tail(self, request: Request) -> Response:
        """Answer with the messages of a topic as they come, as events."""
        wanted = _filter(request)
        tail = await asyncio.to_thread(self._data.tails.open, lambda: self._data.reader(wanted))
        return _events(self._tail_events(tail))

    def health(self, _request: Request) -> Response:
        """Answer with the checks of doctor, plugins and versions."""
        state = health_of(self._data.histories.histories(), time.time(), self._stalled_after_s)
        return JSONResponse(self._data.health(state))

    def metric_sentences(self, _request: Request) -> Response:
        """Answer with the sentence of each declared metric, as a module of the page."""
        text = f"export const sentences = {json.dumps(metric_sentences())};"
        return Response(text, media_type="text/javascript")

    async def events(self, _request: Request) -> Response:
        """Answer with all queries in short, again and again as they change."""
        return _events(self._query_events())

    async def _query_events(self) -> AsyncIterator[str]:
        sent, sent_at = (-1, ""), 0.0
        while not self._data.is_closing:
            # A report of a sink changes what a query's view shows, and nothing in short
            latest = self._data.histories.version, await asyncio.to_thread(self._data.queries)
            if latest != sent:
                yield _event("queries", latest[1])
                sent, sent_at = latest, time.monotonic()
            elif time.monotonic() - sent_at > _KEEP_ALIVE_S:
                yield ": still here\n\n"
                sent_at = time.monotonic()
            await asyncio.sleep(_EVENT_INTERVAL_S)

    async def _tail_events(self, tail: Tail) -> AsyncIterator[str]:
        try:
            while not self._data.is_closing:
                messages = await asyncio.to_thread(tail.take)
                yield ": none\n\n" if messages is None else _event("messages", json.dumps(messages))
        finally:
            tail.close()


def refused(_request: Request, error: Exception) -> Response:
    """Answer with an error that millrace raises on purpose: its message is for people, and shows no secret."""
    return JSONResponse({"error": str(error)}, status_code=404 if isinstance(error, UnknownTopicError) else 400)


def _event(name: str, data: str) -> str:
    return f"event: {name}\ndata: {data}\n\n"


def _events(events: AsyncIterator[str]) -> Response:
    return StreamingResponse(events, media_type="text/event-stream")


def _json(text: str | None) -> Response:
    """Answer with a view of a query that is JSON already."""
    return _found(None, _NO_QUERY) if text is None else Response(text, media_type="application/json")


def _found(content: Any, missing: dict[str, str]) -> Response:
    return JSONResponse(missing, status_code=404) if content is None else JSONResponse(content)


def _filter(request: Request) -> MessageFilter:
    asked = request.query_params
    count = asked.get("count", "")
    return MessageFilter(
        topic=request.path_params["topic"],
        count=min(max(int(count), 1), MAX_MESSAGES) if count.isdigit() else MessageFilter.count,
        format=asked.get("format", ""),
        columns=asked.get("columns", ""),
        registry=asked.get("registry", ""),
        where=asked.get("where", ""),
    )
