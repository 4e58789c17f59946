"""Duration of a small micro-batch while a live page is open and metrics are scraped, beside one that nobody watches."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import millrace
from bench.cases.micro_batch import PARTITIONS, median_ms, steady_records
from bench.measure import MILLRACE, Bench, Result, alternate

WORK = "micro-batch at 400 records/s, with page and Prometheus"
WATCHED, UNWATCHED = "watched", "nobody watches"

_READER = """
import sys, threading, time, urllib.request
events, metrics = sys.argv[1:]
threading.Thread(target=lambda: sum(1 for _ in urllib.request.urlopen(events)), daemon=True).start()
threading.Thread(target=lambda: sys.stdin.read() or sys.exit(), daemon=True).start()
while threading.active_count() > 2:
    urllib.request.urlopen(metrics).read()
    time.sleep(1)
"""
"""Reads the page's events, and metrics once a second, in a process of its own as browsers and Prometheus do."""


def run(bench: Bench) -> list[Result]:
    """Measure micro-batches."""
    with (
        bench.topics.empty(PARTITIONS) as source,
        bench.topics.empty(PARTITIONS) as target,
        steady_records(bench, source),
    ):
        copy = functools.partial(median_ms, bench, MILLRACE, source, target)
        series = alternate(bench, WORK, {WATCHED: lambda: _while_watched(bench, copy), UNWATCHED: copy})
    return [Result(WORK, "ms", series[WATCHED], series[UNWATCHED], target=1.02, at_most=True, base=UNWATCHED)]


def _while_watched(bench: Bench, copy: functools.partial[float]) -> float:
    with _watching(bench):
        return copy()


@contextmanager
def _watching(bench: Bench) -> Iterator[None]:
    with ExitStack() as stack:
        page = stack.enter_context(millrace.ui(bench.spark, port=0))
        reports = stack.enter_context(millrace.report_metrics(bench.spark, "prometheus", {"port": "0"}))
        command = [sys.executable, "-c", _READER, f"{page.url}events", reports.reporter.url]
        reader = stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE))
        try:
            yield
        finally:
            # The end of its input ends it, before what it reads from
            reader.communicate(timeout=30)
