"""The live page of a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from millrace.api.query_events import QueryEvents
from millrace.errors import OptionsError
from millrace_ui.page_data import PageData
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
        kafka: Kafka's client properties; None for those of the jobs that run in this process.
        payloads: Whether keys and values of messages are shown.
        stalled_after_s: The seconds without progress after which a query that has something to read is not well.
    """

    def __init__(
        self,
        spark: SparkSession,
        host: str,
        port: int,
        token: str | None,
        kafka: Mapping[str, str] | None = None,
        payloads: bool = True,
        stalled_after_s: float = STALLED_AFTER_S,
    ) -> None:
        self._token = token
        histories = Histories()
        self._events = QueryEvents(histories.add)
        self._data = PageData(histories, spark, kafka, shows_payloads=payloads)
        self._server = serve(self._data, host, port, token, stalled_after_s)
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
        self._data.is_closing = True
        self._server.close()

    def __enter__(self) -> LivePage:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LivePage({self._server.url})"


def serve(data: PageData, host: str, port: int, token: str | None, stalled_after_s: float = STALLED_AFTER_S) -> Server:
    """Serve a page.

    Raises:
        OptionsError: The port is taken, or this machine has no such address.
    """
    hosts = LOOPBACK if host in LOOPBACK else ()
    settings = Settings(Exposition(), stalled_after_s, token, hosts)
    return Server(page_application(data, settings), host, port, "page")


def open_page(
    spark: SparkSession,
    host: str,
    port: int,
    token: str | None,
    kafka: Mapping[str, str] | None = None,
    payloads: bool = True,
    stalled_after_s: float = STALLED_AFTER_S,
) -> LivePage:
    """Open the live page of a session.

    Raises:
        OptionsError: The port is taken, or an address that other machines reach has no token.
    """
    if host not in LOOPBACK and not token:
        problem = f"host {host!r}: other machines reach it, so give a token: millrace.ui(spark, {host!r}, token=...)"
        raise OptionsError("page", (problem,))
    return LivePage(spark, host, port, token, kafka, payloads, stalled_after_s)
