"""Runs the demo: starts everything, shows it, and stops everything."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from millrace.errors import MillraceError
from millrace_broker import KafkaBroker
from millrace_broker.java import find_java
from millrace_broker.progress import LineProgress
from millrace_cli.demo import pipeline
from millrace_cli.demo.display import Display, open_display
from millrace_cli.demo.interrupts import Interrupts
from millrace_cli.demo.measure import Measure
from millrace_cli.demo.orders import OrderProducer
from millrace_cli.demo.quiet import descriptors_to, log_tail
from millrace_cli.demo.results import ResultReader
from millrace_cli.demo.spark import QUICK_START, SparkThread
from millrace_cli.demo.summary import SCRIPT_MARK, Summary, script

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

_T = TypeVar("_T")

_ORDER_PARTITIONS = 4
_REVENUE_PARTITIONS = 2
_REFRESH_SECONDS = 0.25
_FIRST_RESULT_SECONDS = 180.0


def run_demo(seconds: float, plain: bool, interrupts: Interrupts) -> None:
    """Run the demo until its time is over or someone asks to stop, and leave nothing behind.

    Args:
        seconds: How long to show results, from the first one on.
        plain: Plain lines even on a terminal.
        interrupts: Tells when someone asks to stop; inside its ``with`` block.

    Raises:
        MachineError: This machine has no Java that fits, or the broker does not start.
        MillraceError: The query failed.
    """
    find_java()
    with (
        _quiet_warnings(),
        tempfile.TemporaryDirectory(prefix="millrace-", ignore_cleanup_errors=True) as folder,
        descriptors_to(Path(folder, "log")),
    ):
        display = open_display(plain)
        with display:
            summary = Demo(Path(folder), interrupts, display).run(seconds)
        for line in (*summary.lines(), "", SCRIPT_MARK, script()):
            display.say(line)


@contextmanager
def _quiet_warnings() -> Iterator[None]:
    # What PySpark thinks of other packages' versions is nothing that a person who watches the demo can use
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Demo:
    """One run of the demo.

    Args:
        folder: For temporary files; it has the log already.
        interrupts: Tells when someone wants it to end.
        display: Shows it.
    """

    def __init__(self, folder: Path, interrupts: Interrupts, display: Display) -> None:
        self._folder = folder
        self._interrupts = interrupts
        self._display = display
        self._summary = Summary()

    def run(self, seconds: float) -> Summary:
        """Start everything, show it, and stop everything.

        Args:
            seconds: How long to show results.
        """
        try:
            with ExitStack() as stack:
                self._run(stack, seconds)
        except KeyboardInterrupt:
            # Asked for, by Interrupts and by nothing else
            pass
        return self._summary

    def _run(self, stack: ExitStack, seconds: float) -> None:
        self._display.say("starting a Kafka broker and Spark on this machine")
        began = time.monotonic()
        broker = KafkaBroker(java_options=[QUICK_START], progress=LineProgress(self._display.say))
        # What is stopped last comes first: Spark must not miss its broker
        stack.callback(broker.stop)
        spark = stack.enter_context(SparkThread(self._folder))
        stack.enter_context(self._announced_end())
        with self._interrupts.raising():
            broker.start()
        servers = broker.bootstrap_servers
        broker.create_topic(pipeline.ORDERS_TOPIC, _ORDER_PARTITIONS)
        broker.create_topic(pipeline.REVENUE_TOPIC, _REVENUE_PARTITIONS)
        self._display.say(f"Kafka is ready at {servers} after {time.monotonic() - began:.1f} s")

        reader = stack.enter_context(ResultReader(servers, pipeline.REVENUE_TOPIC, _REVENUE_PARTITIONS))
        producer = stack.enter_context(OrderProducer(servers, pipeline.ORDERS_TOPIC))
        measure = Measure(producer, reader, seconds)
        self._await(spark.session)
        self._display.say(f"Spark is ready after {time.monotonic() - began:.1f} s; starting the query")
        starting = spark.submit(
            pipeline.start_pipeline, spark.session.result(), servers, str(self._folder / "checkpoint")
        )
        stack.callback(_stop_query, starting)
        self._show(self._await(starting), measure, seconds)

    @contextmanager
    def _announced_end(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._display.say("stopping")

    def _await(self, future: Future[_T]) -> _T:
        while not future.done():
            if self._interrupts.wait(_REFRESH_SECONDS):
                raise KeyboardInterrupt
        return future.result()

    def _show(self, query: StreamingQuery, measure: Measure, seconds: float) -> None:
        try:
            while not self._interrupts.wait(_REFRESH_SECONDS):
                self._display.show(measure.look(query.recentProgress))
                if not query.isActive:
                    raise MillraceError(f"the demo's query has failed: {query.exception()}{self._log_tail()}")
                if measure.shown_seconds is None and measure.waited_seconds > _FIRST_RESULT_SECONDS:
                    raise MillraceError(f"no result after {_FIRST_RESULT_SECONDS:.0f} seconds{self._log_tail()}")
                if (measure.shown_seconds or 0.0) >= seconds:
                    return
        finally:
            self._summary = measure.summary()

    def _log_tail(self) -> str:
        tail = log_tail(self._folder / "log")
        return f"\nThe last lines of the log:{tail}" if tail else ""


def _stop_query(starting: Future[StreamingQuery]) -> None:
    if starting.exception() is None:
        starting.result().stop()
