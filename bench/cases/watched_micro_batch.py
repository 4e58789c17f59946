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
        command = [sys.executable, "-m", "bench.page_watcher", page.url, reports.reporter.url]
        watcher = stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE))
        try:
            yield
        finally:
            # The end of its input ends it, before what it reads from
            watcher.communicate(timeout=60)
    if watcher.returncode:
        raise RuntimeError("the page was not watched all the time, so the figures say nothing")
