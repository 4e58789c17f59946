"""Metrics reporters: send the metrics of a session's queries out of the driver."""

from __future__ import annotations

from abc import ABC, abstractmethod

from millrace.contracts.metrics import QueryReport
from millrace.contracts.plugin import Plugin


class MetricsReporter(Plugin, ABC):
    """Sends metrics to where people look at them.

    `millrace.report_metrics` opens it in the driver's process. Spark calls it between micro-batches, so `report` must
    return at once: keep the values, or hand them to a thread.
    """

    @property
    def max_trace_links(self) -> int:
        """The number of a micro-batch's messages, at most, whose traces it wants in `QueryReport.traceparents`.

        Executors read no headers for 0.
        """
        return 0

    def open(self) -> None:
        """Get ready before the first report, such as by listening on a port.

        Raises:
            OptionsError: An option does not fit this machine.
            MachineError: A library is not installed.
        """

    @abstractmethod
    def report(self, report: QueryReport) -> None:
        """Take the state of a query after one of its events.

        An exception is logged once, and the query goes on.
        """

    def close(self) -> None:
        """Release what `open` has taken; the session ends, or nobody wants reports any more."""
