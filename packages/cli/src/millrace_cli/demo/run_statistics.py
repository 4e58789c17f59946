"""Collect the demo's figures from its producer, query and reader, for the display and the summary."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from millrace_cli.demo.display import Snapshot
from millrace_cli.demo.order_producer import OrderProducer
from millrace_cli.demo.query_progress import Batches, Rate
from millrace_cli.demo.sales_reader import SalesReader
from millrace_cli.demo.summary import Summary


class RunStatistics:
    """The figures of one run, which begins when the broker is ready.

    Args:
        producer: Produces the orders.
        reader: Consumes the sales.
        of_seconds: Time for which results are shown.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        producer: OrderProducer,
        reader: SalesReader,
        of_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._producer = producer
        self._reader = reader
        self._of_seconds = of_seconds
        self._clock = clock
        self._broker_ready_at = clock()
        self._query_started_at: float | None = None
        self._now = self._broker_ready_at
        self._batches = Batches()
        self._input_rate = Rate()
        self._output_rate = Rate()

    def update(self, progresses: Iterable[Mapping[str, Any]]) -> Snapshot:
        """Collect the current figures.

        Args:
            progresses: The query's ``recentProgress``.
        """
        self._now = self._clock()
        if self._query_started_at is None:
            self._query_started_at = self._now
        self._batches.add(progresses)
        last = self._batches.last
        return Snapshot(
            seconds=self.shown_seconds,
            of_seconds=self._of_seconds,
            sent=self._producer.sent,
            rows_in=self._batches.rows_in,
            rows_in_rate=self._input_rate.update(self._now, self._batches.rows_in),
            rows_out=self._reader.count,
            rows_out_rate=self._output_rate.update(self._now, self._reader.count),
            batches=len(self._batches),
            batch_ms=last.milliseconds if last else 0,
            lag=last.lag if last else {},
            totals=self._reader.totals(),
        )

    @property
    def shown_seconds(self) -> float | None:
        """Seconds from the first result to the last update; None before the first result."""
        first = self._reader.first_at
        return None if first is None else max(0.0, self._now - first)

    @property
    def query_seconds(self) -> float:
        """Seconds from the query's start to the last update."""
        return 0.0 if self._query_started_at is None else self._now - self._query_started_at

    def summary(self) -> Summary:
        """Return the figures of the whole run."""
        first = self._reader.first_at
        return Summary(
            sent=self._producer.sent,
            rows_in=self._batches.rows_in,
            rows_out=self._reader.count,
            seconds=self.query_seconds,
            batches=len(self._batches),
            median_batch_ms=self._batches.median_milliseconds,
            first_result_seconds=None if first is None else first - self._broker_ready_at,
        )
