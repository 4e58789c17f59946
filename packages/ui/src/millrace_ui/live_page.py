"""The live page of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.api.query_events import QueryEvents
from millrace.errors import OptionsError
from millrace_ui.prometheus import Exposition
from millrace_ui.query_history import Histories
from millrace_ui.server import Server
from millrace_ui.web_application import Settings, page_application

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace.contracts.metrics import OnMetrics

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Addresses that only this machine reaches."""

STALLED_AFTER_S = 300.0
"""The seconds without progress after which a query that has something to read is not well."""


class LivePage:
    """A page that shows the queries of a session while it is open.

    Args:
        spark: The session.
        host: The address to listen on.
        port: The port; 0 for a free one.
        token: The token that the page asks for; None for none.
    """

    def __init__(self, spark: SparkSession, host: str, port: int, token: str | None) -> None:
        self._token = token
        histories = Histories()
        self._events = QueryEvents(histories.add)
        hosts = LOOPBACK if host in LOOPBACK else ()
        self._server = Server(
            page_application(histories, Settings(Exposition(), 300, token, hosts)), host, port, "page"
        )
        self._events.follow(spark)

    @property
    def url(self) -> str:
        """The address to open in a browser; it has the token, if there is one."""
        return self._server.url if self._token is None else f"{self._server.url}?token={self._token}"

    @property
    def on_metrics(self) -> OnMetrics:
        """The function to give to a `SinkMetricsCollector` that has the name of its query."""
        return self._events.on_metrics

    def close(self) -> None:
        """Close the page. Nothing happens the second time."""
        self._events.leave()
        self._server.close()

    def __enter__(self) -> LivePage:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LivePage({self._server.url})"


def open_page(spark: SparkSession, host: str, port: int, token: str | None) -> LivePage:
    """Open the live page of a session.

    Raises:
        OptionsError: The port is taken, or an address that other machines reach has no token.
    """
    if host not in LOOPBACK and not token:
        problem = f"host {host!r}: other machines reach it, so give a token: millrace.ui(spark, {host!r}, token=...)"
        raise OptionsError("page", (problem,))
    return LivePage(spark, host, port, token)
