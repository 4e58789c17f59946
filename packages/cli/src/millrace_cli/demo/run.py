"""Run the demo: start everything, print what flows, and stop everything."""

from __future__ import annotations

import inspect
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

import millrace
from millrace.errors import MillraceError
from millrace.failures import sentence_of
from millrace_broker import KafkaBroker
from millrace_broker.java import find_java
from millrace_broker.progress import LineProgress
from millrace_cli.demo import pipeline
from millrace_cli.demo.orders import OrderProducer

if TYPE_CHECKING:
    from confluent_kafka import Consumer
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

SCRIPT_MARK = "# ---- the pipeline that just ran, complete and ready to copy ----"

_QUICK_START = "-XX:TieredStopAtLevel=1"
"""Keep Java to its quick compiler: the demo ends before the optimizing one would pay off."""

_LINE_S = 2.0
_IMPORT_S = 0.05
_FIRST_RESULT_TIMEOUT_S = 180.0
_CATCH_UP_S = 10.0


class StopRequests:
    """Ctrl-C and SIGTERM, which end the demo where it can be ended cleanly.

    Attributes:
        raises: Whether the first request raises KeyboardInterrupt, within calls that clean up after themselves.
    """

    def __init__(self) -> None:
        self._requested = threading.Event()
        self.raises = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    @property
    def requested(self) -> bool:
        """True once the demo is to stop."""
        return self._requested.is_set()

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Let a request raise KeyboardInterrupt in a block, once; also one that came before it."""
        self.raises = True
        try:
            if self.requested:
                raise KeyboardInterrupt
            yield
        finally:
            self.raises = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._requested.set()
        if self.raises and _is_importing(frame):
            # An exception while Python takes its lock of imports leaves it taken: Spark's thread would wait for ever
            again = threading.Timer(_IMPORT_S, os.kill, (os.getpid(), number))
            again.daemon = True
            again.start()
        elif self.raises:
            self.raises = False
            raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def run_demo(seconds: float, requests: StopRequests, ui_port: int | None = None) -> None:
    """Run the demo until its time is over or a stop is requested, and leave nothing behind.

    Args:
        seconds: Time to print results for, from the first one on.
        requests: The requests to stop.
        ui_port: The port of the live page; None for no page.

    Raises:
        MachineError: A package or Java is missing, Java is too old, or the broker does not start.
        MillraceError: The query failed.
    """
    find_java()
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="millrace-", ignore_cleanup_errors=True) as name, ExitStack() as stack:
        stack.enter_context(_without_log(Path(name)))
        try:
            _run(stack, Path(name), seconds, requests, figures, ui_port)
        except KeyboardInterrupt:  # of StopRequests
            pass
        finally:
            click.echo("stopping")
    click.echo("\n".join((*figures.summary(), "", SCRIPT_MARK, inspect.getsource(pipeline).rstrip())))


def _run(
    stack: ExitStack, folder: Path, seconds: float, requests: StopRequests, figures: Figures, ui_port: int | None
) -> None:
    click.echo("starting a Kafka broker and Spark on this machine")
    broker = KafkaBroker(java_options=[_QUICK_START], progress=LineProgress(click.echo))
    # Registered first and so stopped last: Spark needs its broker until the end
    stack.callback(broker.stop)
    session = stack.enter_context(ThreadPoolExecutor(1)).submit(_start_spark, folder)
    stack.callback(lambda: session.exception() or session.result().stop())
    with requests.raising():
        broker.start()
    servers = broker.bootstrap_servers
    broker.create_topic(pipeline.ORDERS_TOPIC, 4)
    broker.create_topic(pipeline.SALES_TOPIC, 2)
    click.echo(f"Kafka is ready at {servers}")
    figures.ready_at = time.monotonic()
    while not session.done() and not requests.requested:
        time.sleep(_LINE_S / 10)
    if requests.requested:
        return
    spark = session.result()
    click.echo("Spark is ready; starting the query")
    millrace.set_active_session(spark)
    if ui_port is not None:
        _open_page(stack, spark, servers, ui_port)
    query = pipeline.start_pipeline(spark, servers, str(folder / "checkpoint"))
    stack.callback(query.stop)
    sales = _consumer_of(servers, pipeline.SALES_TOPIC)
    stack.callback(sales.close)
    producer = stack.enter_context(OrderProducer(servers, pipeline.ORDERS_TOPIC))
    figures.show(query, sales, producer, seconds, requests)
    producer.stop()
    figures.catch_up(query, sales, producer)


def _open_page(stack: ExitStack, spark: SparkSession, servers: str, port: int) -> None:
    page = stack.enter_context(millrace.ui(spark, port=port, kafka={"bootstrap.servers": servers}))
    click.echo(f"the live page is at {page.url}")


class Figures:
    """The figures of a run, printed while it goes on."""

    def __init__(self) -> None:
        self.ready_at = time.monotonic()
        self._first_at: float | None = None
        self._sent = self._rows_in = self._rows_out = 0
        self._last_batch = -1
        self._batch_ms: list[int] = []
        self._last_sale = b""

    def show(
        self, query: StreamingQuery, sales: Consumer, producer: OrderProducer, seconds: float, requests: StopRequests
    ) -> None:
        """Print a line every two seconds, until the time is over or a stop is requested.

        Raises:
            MillraceError: The query failed, or has no result after minutes.
        """
        started_at = time.monotonic()
        next_line_at, before = started_at + _LINE_S, (0, 0)
        while not requests.requested and (self._first_at is None or time.monotonic() < self._first_at + seconds):
            self._update(query, sales, producer)
            if not query.isActive:
                raise MillraceError(f"the demo's query has failed: {sentence_of(query.exception())}")
            if self._first_at is None and time.monotonic() > started_at + _FIRST_RESULT_TIMEOUT_S:
                raise MillraceError(f"the demo's query gave no result for {_FIRST_RESULT_TIMEOUT_S:.0f} s")
            if self._first_at is not None and time.monotonic() >= next_line_at:
                elapsed = time.monotonic() - next_line_at + _LINE_S
                rates = [
                    (now - old) / elapsed for now, old in zip((self._rows_in, self._rows_out), before, strict=True)
                ]
                sources = millrace.metrics(query).sources
                lag = sources[0].pending_records if sources else 0
                click.echo(
                    f"{time.monotonic() - self._first_at:4.0f} s | in {rates[0]:,.0f}/s | out {rates[1]:,.0f}/s | "
                    f"lag {lag:,} | {self._last_sale.decode()}"
                )
                next_line_at, before = time.monotonic() + _LINE_S, (self._rows_in, self._rows_out)

    def catch_up(self, query: StreamingQuery, sales: Consumer, producer: OrderProducer) -> None:
        """Wait for some seconds at most until the query has read all orders, and its sales have come."""
        deadline = time.monotonic() + _CATCH_UP_S
        is_quiet = False
        while not (is_quiet and self._rows_in >= producer.sent) and query.isActive and time.monotonic() < deadline:
            is_quiet = self._update(query, sales, producer) == 0

    def summary(self) -> Iterator[str]:
        """Yield the lines of the figures of the whole run."""
        first = (
            "none" if self._first_at is None else f"{self._first_at - self.ready_at:.1f} s after the broker was ready"
        )
        median = statistics.median(self._batch_ms) if self._batch_ms else 0
        yield "summary"
        yield f"  orders sent        {self._sent:,}"
        yield f"  records in         {self._rows_in:,}"
        yield f"  records out        {self._rows_out:,}"
        yield f"  micro-batches      {len(self._batch_ms):,}, median {median:,.0f} ms"
        yield f"  first result       {first}"

    def _update(self, query: StreamingQuery, sales: Consumer, producer: OrderProducer) -> int:
        """Take what has come within a quarter of a second; returns the number of sales."""
        records = [record for record in sales.consume(10_000, 0.25) if record.error() is None]
        if records:
            self._first_at = self._first_at or time.monotonic()
            producer.is_awaited = True
            self._rows_out += len(records)
            self._last_sale = records[-1].value() or b""
        self._sent = producer.sent
        for progress in query.recentProgress:
            if progress["batchId"] > self._last_batch and "addBatch" in progress["durationMs"]:
                self._last_batch = progress["batchId"]
                self._rows_in += progress["numInputRows"]
                self._batch_ms.append(progress["durationMs"]["triggerExecution"])
        return len(records)


def _consumer_of(servers: str, topic: str) -> Consumer:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    properties: dict[str, Any] = {
        "bootstrap.servers": servers,
        "group.id": "millrace-demo",
        "enable.auto.commit": False,
    }
    consumer = Consumer(properties)
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(2)])
    return consumer


def _start_spark(folder: Path) -> SparkSession:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark's, about versions of other packages
        return millrace.local_session(
            "millrace demo",
            config={
                # Files of performance data would be outside the folder
                "spark.driver.extraJavaOptions": f'"-Djava.io.tmpdir={folder}" -XX:-UsePerfData {_QUICK_START}',
                "spark.local.dir": str(folder),
                # The path of a Unix socket is limited to about 100 characters
                "spark.python.unix.domain.socket.enabled": str(len(str(folder)) <= 55).lower(),
                "spark.sql.warehouse.dir": str(folder / "warehouse"),
            },
            progress=False,
        )


@contextmanager
def _without_log(folder: Path) -> Iterator[None]:
    """Redirect what Java, its Python workers and librdkafka write to standard error, which they inherit."""
    sys.stderr.flush()
    original = os.dup(2)
    with (folder / "log").open("ab") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(original, 2)
        os.close(original)
