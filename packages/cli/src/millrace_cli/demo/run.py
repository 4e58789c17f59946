"""Run the demo: start everything, show it, and stop everything."""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from millrace.errors import MachineError, MillraceError
from millrace.plugins.kinds import FORMAT, OFFSET_INITIALIZER, PARTITIONER
from millrace.plugins.manager import PluginManager, plugin_manager
from millrace_broker import KafkaBroker
from millrace_broker.java import find_java
from millrace_broker.progress import LineProgress
from millrace_cli.demo import pipeline
from millrace_cli.demo.display import Display
from millrace_cli.demo.interrupts import Interrupts
from millrace_cli.demo.live_display import LiveDisplay
from millrace_cli.demo.order_producer import OrderProducer
from millrace_cli.demo.output_capture import log_tail, redirect_native_output
from millrace_cli.demo.plain_display import PlainDisplay
from millrace_cli.demo.run_statistics import RunStatistics
from millrace_cli.demo.sales_reader import SalesReader
from millrace_cli.demo.spark_thread import QUICK_START, SparkThread
from millrace_cli.demo.summary import SCRIPT_MARK, Summary, script

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

_T = TypeVar("_T")

_PLUGINS = ((FORMAT, "json"), (OFFSET_INITIALIZER, "earliest-offset"), (PARTITIONER, "default"))
_ORDER_PARTITIONS = 4
_SALES_PARTITIONS = 2
_REFRESH_SECONDS = 0.25
_FIRST_RESULT_TIMEOUT_SECONDS = 180.0
_CATCH_UP_SECONDS = 10.0


def run_demo(seconds: float, plain: bool, interrupts: Interrupts) -> None:
    """Run the demo until its time is over or a stop is requested, and leave nothing behind.

    Args:
        seconds: Time to show results for, from the first one on.
        plain: Print plain lines even on a terminal.
        interrupts: The requests to stop; its ``with`` block is entered.

    Raises:
        MachineError: A package or Java is missing, Java is too old, or the broker does not start.
        MillraceError: The query failed.
    """
    check_plugins(plugin_manager())
    find_java()
    with (
        _ignored_warnings(),
        tempfile.TemporaryDirectory(prefix="millrace-", ignore_cleanup_errors=True) as folder,
        redirect_native_output(Path(folder, "log")),
    ):
        display = _open_display(plain)
        with display:
            summary = Demo(Path(folder), interrupts, display).run(seconds)
        for line in (*summary.lines(), "", SCRIPT_MARK, script()):
            display.say(line)


def check_plugins(manager: PluginManager) -> None:
    """Check that the plugins of the demo's pipeline are installed: a failing query would explain it less clearly.

    Args:
        manager: The installed plugins.

    Raises:
        MachineError: One is not installed.
    """
    missing = [f"{kind.name} {name!r}" for kind, name in _PLUGINS if name not in manager.names(kind)]
    if missing:
        raise MachineError(f"missing for the demo: {', '.join(missing)}; run: pip install millrace-kafka")


def _open_display(plain: bool) -> Display:
    return PlainDisplay(sys.stdout) if plain or not sys.stdout.isatty() else LiveDisplay(sys.stdout)


@contextmanager
def _ignored_warnings() -> Iterator[None]:
    # PySpark's warnings about other packages' versions do not help someone who watches the demo
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Demo:
    """One run of the demo.

    Args:
        folder: A folder for temporary files; it holds the log already.
        interrupts: The requests to stop.
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
            seconds: Time to show results for.
        """
        try:
            with ExitStack() as stack:
                self._run(stack, seconds)
        except KeyboardInterrupt:
            # Raised by Interrupts alone, when a stop is requested
            pass
        return self._summary

    def _run(self, stack: ExitStack, seconds: float) -> None:
        self._display.say("starting a Kafka broker and Spark on this machine")
        started_at = time.monotonic()
        broker = KafkaBroker(java_options=[QUICK_START], progress=LineProgress(self._display.say))
        # Registered first and so stopped last: Spark needs its broker until the end
        stack.callback(broker.stop)
        spark = stack.enter_context(SparkThread(self._folder))
        stack.enter_context(self._announced_stop())
        with self._interrupts.raising():
            broker.start()
        servers = broker.bootstrap_servers
        broker.create_topic(pipeline.ORDERS_TOPIC, _ORDER_PARTITIONS)
        broker.create_topic(pipeline.SALES_TOPIC, _SALES_PARTITIONS)
        self._display.say(f"Kafka is ready at {servers} after {time.monotonic() - started_at:.1f} s")

        reader = stack.enter_context(SalesReader(servers, pipeline.SALES_TOPIC, _SALES_PARTITIONS))
        producer = stack.enter_context(OrderProducer(servers, pipeline.ORDERS_TOPIC))
        statistics = RunStatistics(producer, reader, seconds)
        self._await(spark.session)
        self._display.say(f"Spark is ready after {time.monotonic() - started_at:.1f} s; starting the query")
        starting = spark.submit(
            pipeline.start_pipeline, spark.session.result(), servers, str(self._folder / "checkpoint")
        )
        stack.callback(_stop_query, starting)
        query = self._await(starting)
        self._show(query, statistics, seconds)
        producer.stop()
        self._catch_up(query, statistics)
        reader.stop()
        self._summary = statistics.summary()

    @contextmanager
    def _announced_stop(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._display.say("stopping")

    def _await(self, future: Future[_T]) -> _T:
        while not future.done():
            if self._interrupts.wait(_REFRESH_SECONDS):
                raise KeyboardInterrupt
        return future.result()

    def _show(self, query: StreamingQuery, statistics: RunStatistics, seconds: float) -> None:
        while not self._interrupts.wait(_REFRESH_SECONDS):
            self._display.show(statistics.update(query.recentProgress))
            if not query.isActive:
                raise MillraceError(f"the demo's query has failed: {query.exception()}{self._log_tail()}")
            if statistics.shown_seconds is None and statistics.query_seconds > _FIRST_RESULT_TIMEOUT_SECONDS:
                raise MillraceError(
                    f"the demo's query gave no result for {_FIRST_RESULT_TIMEOUT_SECONDS:.0f} s{self._log_tail()}"
                )
            if (statistics.shown_seconds or 0.0) >= seconds:
                return

    def _catch_up(self, query: StreamingQuery, statistics: RunStatistics) -> None:
        # A micro-batch writes its records before it is reported: the totals agree only once nothing is left to read
        deadline = time.monotonic() + _CATCH_UP_SECONDS
        while query.isActive and time.monotonic() < deadline:
            snapshot = statistics.update(query.recentProgress)
            if snapshot.rows_in >= snapshot.sent:
                return
            self._display.show(snapshot)
            time.sleep(_REFRESH_SECONDS)

    def _log_tail(self) -> str:
        tail = log_tail(self._folder / "log")
        return f"\nThe last lines of the log:{tail}" if tail else ""


def _stop_query(starting: Future[StreamingQuery]) -> None:
    if starting.exception() is None:
        starting.result().stop()
