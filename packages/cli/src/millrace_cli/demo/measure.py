"""Puts together what the parts of the demo know, for the display and for the summary."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from millrace_cli.demo.display import Snapshot
from millrace_cli.demo.orders import OrderProducer
from millrace_cli.demo.progress import Batches, Rate
from millrace_cli.demo.results import ResultReader
from millrace_cli.demo.summary import Summary


class Measure:
    """The demo's numbers, from the moment that the broker is ready.

    Args:
        producer: Sends the orders.
        reader: Reads the results.
        of_seconds: How long results are shown.
        clock: Seconds from some fixed moment on.
    """

    def __init__(
        self,
        producer: OrderProducer,
        reader: ResultReader,
        of_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._producer = producer
        self._reader = reader
        self._of_seconds = of_seconds
        self._clock = clock
        self._ready_at = clock()
        self._query_at: float | None = None
        self._now = self._ready_at
        self._batches = Batches()
        self._in = Rate()
        self._out = Rate()

    def look(self, progresses: Iterable[Mapping[str, Any]]) -> Snapshot:
        """Take a query's ``recentProgress``, and answer the state of things now."""
        self._now = self._clock()
        if self._query_at is None:
            self._query_at = self._now
        self._batches.add(progresses)
        last = self._batches.last
        return Snapshot(
            seconds=self.shown_seconds,
            of_seconds=self._of_seconds,
            sent=self._producer.sent,
            rows_in=self._batches.rows_in,
            rows_in_rate=self._in.update(self._now, self._batches.rows_in),
            rows_out=self._reader.count,
            rows_out_rate=self._out.update(self._now, self._reader.count),
            batches=len(self._batches),
            batch_ms=last.milliseconds if last else 0,
            lag=last.lag if last else {},
            newest=self._reader.newest(),
        )

    @property
    def shown_seconds(self) -> float | None:
        """How long results have been shown at the last look; None before the first one."""
        first = self._reader.first_at
        return None if first is None else max(0.0, self._now - first)

    @property
    def waited_seconds(self) -> float:
        """How long the query had been running at the last look."""
        return 0.0 if self._query_at is None else self._now - self._query_at

    def summary(self) -> Summary:
        """The numbers of the whole run."""
        first = self._reader.first_at
        return Summary(
            sent=self._producer.sent,
            rows_in=self._batches.rows_in,
            rows_out=self._reader.count,
            seconds=self.waited_seconds,
            batches=len(self._batches),
            median_batch_ms=self._batches.median_milliseconds,
            first_result_seconds=None if first is None else first - self._ready_at,
        )
