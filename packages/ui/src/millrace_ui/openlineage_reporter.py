"""The metrics reporter ``openlineage``: tell a catalog of lineage which topics queries read and write."""

from __future__ import annotations

import logging
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from millrace.contracts import MetricsReporter, QueryReport
from millrace.errors import MachineError
from millrace.options import option

if TYPE_CHECKING:
    from openlineage.client.client import OpenLineageClient

logger = logging.getLogger("millrace.lineage")

MAX_WAITING = 1_000
"""The number of events that wait to be sent, before new ones are dropped."""

_CLOSE_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class OpenLineageOptions:
    """The options of the reporter ``openlineage``."""

    url: str = option(
        "url",
        default="",
        doc="The address that events are sent to, such as http://localhost:5000. Empty leaves it to OpenLineage's own "
        "configuration: OPENLINEAGE_URL, or a file openlineage.yml, which can have keys and other transports.",
    )
    namespace: str = option("namespace", default="default", doc="The namespace of the queries' jobs.")
    running_interval_s: Annotated[int, Ge(0)] = option(
        "running-interval-s",
        default=60,
        doc="The seconds after which a running query is reported again, if its topics are the same.",
    )


class OpenLineageReporter(MetricsReporter):
    """Send events when a query starts, runs, completes and fails; from a thread, so that no query waits."""

    Options = OpenLineageOptions
    options: OpenLineageOptions

    def open(self) -> None:
        """Make a client.

        Raises:
            MachineError: OpenLineage's client is not installed.
        """
        try:
            from openlineage.client.client import OpenLineageClient
        except ImportError as error:
            raise MachineError(
                "metrics reporter 'openlineage' needs OpenLineage's client; install it with: "
                "pip install 'millrace-ui[openlineage]'"
            ) from error
        config = {"transport": {"type": "http", "url": self.options.url}} if self.options.url else None
        self._client: OpenLineageClient | None = OpenLineageClient(config=config)
        # The last event of each run: its state, its datasets and when it was made
        self._last: dict[str, tuple[str, object, float]] = {}
        self._reports: queue.Queue[tuple[QueryReport, str] | None] = queue.Queue(MAX_WAITING)
        self._has_failed = False
        self._thread = threading.Thread(target=self._send_all, name="millrace-lineage", daemon=True)
        self._thread.start()

    def report(self, report: QueryReport) -> None:
        """Send an event, if the query has come to another state or reads and writes other topics."""
        last_state, last_datasets, last_time = self._last.get(report.run_id, ("", None, 0.0))
        state, datasets = _state_of(report), (report.inputs, report.outputs)
        is_new = state != last_state or datasets != last_datasets
        if not is_new and (state != "RUNNING" or report.time - last_time < self.options.running_interval_s):
            return
        if report.is_active:
            self._last[report.run_id] = (state, datasets, report.time)
        else:
            self._last.pop(report.run_id, None)
        try:
            self._reports.put_nowait((report, state))
        except queue.Full:
            self._warn("too many of them wait")

    def close(self) -> None:
        """Send what waits, for 10 seconds at most. Nothing happens the second time."""
        if self._client is None:
            return
        self._reports.put(None)
        self._thread.join(_CLOSE_TIMEOUT_S)
        self._client = None

    def _send_all(self) -> None:
        client = self._client
        while client is not None:
            waiting = self._reports.get()
            if waiting is None:
                client.close(_CLOSE_TIMEOUT_S)
                return
            self._send(client, *waiting)

    def _send(self, client: OpenLineageClient, report: QueryReport, state: str) -> None:
        from openlineage.client.event_v2 import RunState

        from millrace_ui.openlineage_events import event_of

        try:
            client.emit(event_of(report, RunState(state), self.options.namespace))
        except Exception as error:
            self._warn(str(error))

    def _warn(self, reason: str) -> None:
        if not self._has_failed:
            self._has_failed = True
            logger.warning("events of lineage are lost; later losses are not logged: %s", reason)


def _state_of(report: QueryReport) -> str:
    if report.is_active:
        return "START" if report.batch_id is None else "RUNNING"
    return "COMPLETE" if report.error is None else "FAIL"
